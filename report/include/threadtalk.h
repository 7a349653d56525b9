/* threadtalk.h - what a program may tell the profiler about itself. C89 and later, C++98 and later, any compiler.
 *
 * All of it is optional. The functions do nothing in a program that is linked without the profiler's runtime (the
 * symbols are weak), and compile to nothing under -DTHREADTALK_DISABLE.
 *
 *     threadtalk_region_begin("update");        communication until the end is also shown under the name "update";
 *     ...                                       regions nest, each thread has its own
 *     threadtalk_region_end("update");          ends the innermost open region of that name and all opened inside it
 *
 *     threadtalk_stop();  threadtalk_start();   count no communication in between (all threads); what is written
 *                                               meanwhile is still known, so that later reads are attributed rightly.
 *                                               `threadtalk run --start-paused` begins stopped.
 *
 *     threadtalk_thread_name("worker 3");       names the calling thread in reports
 *
 *     THREADTALK_IGNORE void f(void) { ... }    accesses in this function are not looked at (clang only)
 *
 *     { THREADTALK_REGION("update"); ... }      C++, and C with GCC or clang: a region that ends with its block
 */
#ifndef THREADTALK_H
#define THREADTALK_H

#if defined(__clang__)
#define THREADTALK_IGNORE __attribute__((annotate("threadtalk_ignore")))
#else
#define THREADTALK_IGNORE
#endif

#if !defined(THREADTALK_DISABLE) && (defined(__GNUC__) || defined(__clang__)) && defined(__ELF__)
#define THREADTALK_ENABLED 1
#else
#define THREADTALK_ENABLED 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if THREADTALK_ENABLED
extern void __threadtalk_region_begin(const char *name) __attribute__((weak));
extern void __threadtalk_region_end(const char *name) __attribute__((weak));
extern void __threadtalk_start(void) __attribute__((weak));
extern void __threadtalk_stop(void) __attribute__((weak));
extern void __threadtalk_thread_name(const char *name) __attribute__((weak));
#define THREADTALK_CALL(hook, arguments) \
    do {                                 \
        if (hook) hook arguments;        \
    } while (0)
#define THREADTALK_INLINE static __inline__ __attribute__((unused))
#else
#define THREADTALK_CALL(hook, arguments) ((void)0)
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define THREADTALK_INLINE static inline
#else
#define THREADTALK_INLINE static
#endif
#endif

THREADTALK_INLINE void threadtalk_region_begin(const char *name) {
    (void)name;
    THREADTALK_CALL(__threadtalk_region_begin, (name));
}

THREADTALK_INLINE void threadtalk_region_end(const char *name) {
    (void)name;
    THREADTALK_CALL(__threadtalk_region_end, (name));
}

THREADTALK_INLINE void threadtalk_start(void) {
    THREADTALK_CALL(__threadtalk_start, ());
}

THREADTALK_INLINE void threadtalk_stop(void) {
    THREADTALK_CALL(__threadtalk_stop, ());
}

THREADTALK_INLINE void threadtalk_thread_name(const char *name) {
    (void)name;
    THREADTALK_CALL(__threadtalk_thread_name, (name));
}

#ifdef __cplusplus
}

namespace threadtalk {
/* A region that ends with the scope of the object, also when an exception leaves it. */
class Region {
public:
    explicit Region(const char *name) : name_(name) { threadtalk_region_begin(name_); }
    ~Region() { threadtalk_region_end(name_); }

private:
    Region(const Region &);
    Region &operator=(const Region &);
    const char *name_;
};
} // namespace threadtalk
#define THREADTALK_REGION(name) ::threadtalk::Region THREADTALK_JOIN(threadtalk_region_, __LINE__)(name)
#elif THREADTALK_ENABLED
THREADTALK_INLINE void threadtalk_region_cleanup(const char **name) {
    threadtalk_region_end(*name);
}
#define THREADTALK_REGION(name)                                                                            \
    const char *THREADTALK_JOIN(threadtalk_region_, __LINE__) __attribute__((cleanup(threadtalk_region_cleanup))) = \
        (threadtalk_region_begin(name), (name))
#else
#define THREADTALK_REGION(name) ((void)0)
#endif

#define THREADTALK_JOIN_(a, b) a##b
#define THREADTALK_JOIN(a, b) THREADTALK_JOIN_(a, b)

#endif
