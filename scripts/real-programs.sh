#!/bin/bash
# Two real programs, unmodified, by their own makefiles: minimap2 (C, pthreads) and cd-hit (C++, OpenMP) from Debian's source
# packages. Builds each natively and with the wrappers, runs both, compares the outputs byte for byte, and prints what the
# reports say and what the profiling cost.
#
#   scripts/real-programs.sh [FOLDER]     FOLDER: ${TMPDIR:-/tmp}/threadtalk-real-programs; downloads are kept in it
#
# Needs scripts/build.sh to have run, the network on the first run, and make, zlib1g-dev, libomp-19-dev, dpkg-dev. No privileges.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
tool=${THREADTALK_HOME:-$root/target/threadtalk}
folder=${1:-${TMPDIR:-/tmp}/threadtalk-real-programs}
threads=2

[ -x "$tool/bin/threadtalk" ] || {
    echo "real-programs.sh: no tool in $tool: run scripts/build.sh" >&2
    exit 1
}
folder=$(realpath -m "$folder")
case $folder/ in
"$root"/*)
    echo "real-programs.sh: $folder lies in the checkout: third-party code must not; name a folder outside" >&2
    exit 2
    ;;
esac
mkdir -p "$folder"
cd "$folder"

# Debian's archive as this machine already uses it, with its sources, in lists of our own: the machine's stay as they are.
fetch() {
    mkdir -p apt/lists/partial apt/cache/archives/partial
    apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
        sort -u >apt/sources.list
    [ -s apt/sources.list ] || {
        echo "real-programs.sh: apt knows no Debian archive: run apt-get update on a Debian machine" >&2
        exit 1
    }
    local apt=(apt-get -qq -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=-
        -o "Dir::State::lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache" -o APT::Sandbox::User=)
    "${apt[@]}" update
    # The authors' archive alone: Debian's changes to it are not needed to build.
    "${apt[@]}" source --tar-only --download-only minimap2 cd-hit
}

# unpack PACKAGE INTO
unpack() {
    rm -rf "$2"
    mkdir -p "$2"
    tar -xf "$1"_*.orig.tar.* -C "$2" --strip-components=1
}

# Families of similar protein sequences, and a random genome with reads from it. One generator with a fixed seed, so that the
# files are the same everywhere.
generate() {
    awk '
    function random(n) { seed = (seed * 16807) % 2147483647; return int(seed / 2147483647 * n) }
    function text(length_, letters,   s, k) {
        s = ""
        for (k = 0; k < length_; k++) s = s substr(letters, random(length(letters)) + 1, 1)
        return s
    }
    function mutate(s, percent, letters,   t, k) {
        t = ""
        for (k = 1; k <= length(s); k++)
            t = t (random(100) < percent ? substr(letters, random(length(letters)) + 1, 1) : substr(s, k, 1))
        return t
    }
    BEGIN {
        seed = 20180813
        acids = "ACDEFGHIKLMNPQRSTVWY"
        for (family = 0; family < 500; family++) {
            base = text(120 + random(280), acids)
            for (member = 0; member < 8; member++)
                printf ">f%d_%d\n%s\n", family, member, mutate(base, 2 * member, acids) > "proteins.fa"
        }
        genome = text(300000, "ACGT")
        printf ">genome\n%s\n", genome > "genome.fa"
        for (read = 0; read < 1500; read++)
            printf ">r%d\n%s\n", read, mutate(substr(genome, random(295000) + 1, 1000 + random(4000)), 8, "ACGT") > "reads.fa"
    }'
}

# build KIND PACKAGE CC: by the package's own makefile, which is asked for its default programs
build() {
    unpack "$2" "$1/$2"
    make -s -j2 -C "$1/$2" CC="$3" >"$1/$2.log" 2>&1 || {
        tail -20 "$1/$2.log" >&2
        echo "real-programs.sh: $2 does not build ($1): see $folder/$1/$2.log" >&2
        exit 1
    }
}

# cpu FILE COMMAND...: runs the command and writes its user + system time in seconds to FILE
cpu() {
    local file=$1 TIMEFORMAT='%U %S'
    shift
    { time "$@" 2>>"$file.stderr" 3>&-; } 2>"$file"
    awk '{ print $1 + $2 }' "$file" >"$file.s"
}

# same NAME FILE...: the native and the profiled run left the same bytes
same() {
    local name=$1 file
    shift
    for file; do
        cmp "native/out/$file" "profiled/out/$file" || {
            echo "real-programs.sh: $name: $file differs from the native build's" >&2
            exit 1
        }
    done
    echo "$name: output as natively ($(cat "${@/#/native/out/}" | wc -c) bytes)"
}

slowdown() {
    awk -v name="$1" '{ t[NR] = $1 } END { printf "%s: %.2f s natively, %.2f s profiled (user + system): %.2fx\n", name, t[1], t[2], t[2] / (t[1] > 0 ? t[1] : 0.01) }' \
        "native/$1.time.s" "profiled/$1.time.s"
}

ls minimap2_*.orig.tar.* cd-hit_*.orig.tar.* >/dev/null 2>&1 || fetch
[ -s reads.fa ] || generate
mkdir -p native/out profiled/out
rm -f profiled/*.ttp ./*/*.stderr

build native minimap2 clang-19
build native cd-hit clang++-19
build profiled minimap2 "$tool/bin/threadtalk-cc"
build profiled cd-hit "$tool/bin/threadtalk-c++"

for kind in native profiled; do
    export THREADTALK_OUT="$folder/$kind/%n.%p.ttp"
    (
        cd "$kind"
        cpu minimap2-test.time minimap2/minimap2 -t $threads -c minimap2/test/MT-human.fa minimap2/test/MT-orang.fa >out/mitochondria.paf
        cpu minimap2.time minimap2/minimap2 -t $threads -c -x map-ont ../genome.fa ../reads.fa >out/reads.paf
        cpu cd-hit.time cd-hit/cd-hit -i ../proteins.fa -o out/clusters -c 0.9 -T $threads -M 0 -d 0 >out/cd-hit.log
    )
done

same minimap2 mitochondria.paf reads.paf
same cd-hit clusters clusters.clstr
for program in minimap2 cd-hit; do
    slowdown "$program"
    # The last run is the largest.
    profile=$(ls -t profiled/"$program".*.ttp | head -1)
    "$tool/bin/threadtalk" report "$profile" --format text --top 5 | tee "profiled/$program.txt"
    grep -Eq '^threads .* of which ([2-9]|[1-9][0-9]+) communicate' "profiled/$program.txt" || {
        echo "real-programs.sh: $program: the report shows no threads that communicate" >&2
        exit 1
    }
    "$tool/bin/threadtalk" report "$profile" --format html -o "profiled/$program.report" >/dev/null
    echo "$program: pictures in $folder/profiled/$program.report"
done
