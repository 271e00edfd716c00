"""Draws images as CIFAR-10 has them, 3072 bytes of red, green and blue each, in
a folder for each class: a coloured square whose place says which class it is.
"""

import pathlib
import random
import sys

folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
random.seed(1)
for label in range(10):
    (folder / f"class-{label}").mkdir(parents=True)
for i in range(count):
    label = i % 10
    image = bytearray(random.choices(range(128), k=3072))
    for plane in range(3):
        for y in range(3 * label, 3 * label + 3):
            start = plane * 1024 + y * 32
            for x in range(start, start + 32):
                image[x] += 127
    path = folder / f"class-{label}" / f"{i:06}.bin"
    path.write_bytes(bytes(image))
