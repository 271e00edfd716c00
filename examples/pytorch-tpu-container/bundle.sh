#!/bin/sh
# bundle.sh JOBRUN FOLDER: jobrun with its loader and all libraries that it
# opens, so that it runs in an image of any distribution:
#     FOLDER/ld.so --library-path FOLDER/lib FOLDER/jobrun ...
set -eu
program=$1
folder=$2
mkdir -p "$folder/lib"
cp "$program" "$folder/jobrun"

# The program's own, and those that it opens at their first use.
opened=$(ldconfig -p | sed -n -E \
  's,.*=> (/.*/(libcurl\.so\.4|libcrypto\.so\.3|libarchive\.so\.13))$,\1,p')
for file in "$program" $opened; do
  case $file in *.so.*) cp -L "$file" "$folder/lib/" ;; esac
  ldd "$file" | sed -n -E 's,.*=> (/[^ ]*) .*,\1,p' |
    while read -r library; do cp -L "$library" "$folder/lib/"; done
done
loader=$(ldd "$program" | sed -n -E 's,^[[:space:]]*(/[^ ]*ld-[^ ]*) .*,\1,p;s,.*=> (/[^ ]*ld-[^ ]*) .*,\1,p')
cp -L "$loader" "$folder/ld.so"
