#ifndef NUMBERS_H
#define NUMBERS_H

enum { N = 100 };

#ifdef __cplusplus
extern "C" {
#endif
void fill_static(volatile int *words);
long add_shared(volatile int *words);
#ifdef __cplusplus
}
#endif

#endif
