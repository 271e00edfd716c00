"""What loader.py measures, as a picture: samples per second over readers, a
panel for each amount of work."""

COLOURS = {"A": "#c0392b", "B": "#2471a3", "C": "#1e8449"}
NAMES = {"A": "A  random files", "B": "B  local shards",
         "C": "C  streamed shards"}
WIDTH, HEIGHT, LEFT, TOP = 190, 170, 62, 46


def nice(value):
    """A round number that is not below."""
    step = 1
    while True:
        for factor in (1, 2, 2.5, 5):
            if factor * step >= value:
                return factor * step
        step *= 10


def panel(x, work_us, of):
    readers = sorted(of)
    top = nice(max(rate for one in of.values() for rate in one.values()))
    bottom = TOP + HEIGHT

    def at(i, rate):
        return (x + i * WIDTH / max(1, len(readers) - 1),
                bottom - HEIGHT * rate / top)

    yield '<text x="%d" y="%d" class="t">%s µs of work</text>' % (
        x, TOP - 10, format(work_us, ","))
    for part in (0, 0.5, 1):
        y = bottom - HEIGHT * part
        yield '<path d="M%d %.1fh%d" stroke="#ddd"/>' % (x, y, WIDTH)
        yield '<text x="%d" y="%.1f" class="y">%s</text>' % (
            x - 6, y + 4, format(round(top * part), ","))
    for i, n in enumerate(readers):
        yield '<text x="%.1f" y="%d" class="x">%d</text>' % (
            at(i, 0)[0], bottom + 16, n)
    for kind, colour in COLOURS.items():
        points = [at(i, of[n][kind]) for i, n in enumerate(readers)]
        yield ('<polyline fill="none" stroke="%s" stroke-width="2" '
               'points="%s"/>' % (colour, " ".join("%.1f,%.1f" % p
                                                   for p in points)))
        for point in points:
            yield '<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (
                *point, colour)


def svg(rates):
    """`rates` as loader.medians() has them."""
    step = WIDTH + LEFT + 10
    width, height = len(rates) * step + 10, TOP + HEIGHT + 66
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'font-family="sans-serif" font-size="11">' % (width, height),
           "<style>.t{font-weight:bold}.x{text-anchor:middle}"
           ".y{text-anchor:end}</style>",
           '<rect width="100%" height="100%" fill="#fff"/>']
    for i, work_us in enumerate(sorted(rates)):
        out += panel(i * step + LEFT, work_us, rates[work_us])
    x, y = LEFT, height - 14
    out.append('<text x="%d" y="%d">samples per second over readers:</text>' %
               (x, y))
    x += 190
    for kind, name in NAMES.items():
        out.append('<path d="M%d %dh18" stroke="%s" stroke-width="2"/>' %
                   (x, y - 4, COLOURS[kind]))
        out.append('<text x="%d" y="%d">%s</text>' % (x + 24, y, name))
        x += 150
    return "\n".join([*out, "</svg>", ""])
