#!/usr/bin/env python3
"""Check that the causes of waiting can be told apart by their colours, by everybody and on every screen.

The colours come from web/palette.css, for light and for dark.  Every two causes, and a cause and the grey of work, are
compared as eyes see them that have all cones, or lack those for red, green or blue: the colours are changed as Machado,
Oliveira and Fernandes (2009) computed it for severity 1, and compared by CIEDE2000.  A difference of 1 is just visible
side by side; 10 is plain also at a distance.  Each cause differs from the page by the contrast LEAST_CONTRAST, too.
"""
import itertools
import math
import pathlib
import re
import sys

PALETTE = pathlib.Path(__file__).resolve().parent.parent.parent / "web" / "palette.css"
CAUSES = ("in_program compile value_request wait upload tracing input dispatch host launch unknown").split()
LEAST_DIFFERENCE = 10
LEAST_CONTRAST = 2
EYES = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((.152286, 1.052583, -.204868), (.114503, .786281, .099216), (-.003882, -.048116, 1.051998)),
    "no green": ((.367322, .860646, -.227968), (.280085, .672501, .047413), (-.011820, .042940, .968881)),
    "no blue": ((1.255528, -.076749, -.178779), (-.078411, .930809, .147602), (.004733, .691367, .303900)),
}


def read_palettes(css):
    """{"light": {name: (r, g, b)}, "dark": ..}, parts from 0 to 1."""
    found = re.findall(r"--(\w[\w-]*): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);", css)
    def parts(code):
        return tuple(int(code[i:i + 2], 16) / 255 for i in (0, 2, 4))
    return {"light": {name: parts(light) for name, light, _ in found},
            "dark": {name: parts(dark) for name, _, dark in found}}


def linear(colour):
    return [c / 12.92 if c <= .04045 else ((c + .055) / 1.055) ** 2.4 for c in colour]


def seen_by(colour, matrix):
    return [min(1, max(0, sum(m * c for m, c in zip(row, colour)))) for row in matrix]


def lab(colour):
    r, g, b = linear(colour)
    white = (.95047, 1, 1.08883)
    xyz = (.4124564 * r + .3575761 * g + .1804375 * b, .2126729 * r + .7151522 * g + .0721750 * b,
           .0193339 * r + .1191920 * g + .9503041 * b)
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116
               for t in (v / w for v, w in zip(xyz, white)))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one, two):
    """Sharma, Wu and Dalal (2005), equations 2 to 22."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = .5 * (1 - math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = math.degrees(math.atan2(b1, a1)) % 360, math.degrees(math.atan2(b2, a2)) % 360
    turn = 0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    l, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    t = (1 - .17 * math.cos(math.radians(h - 30)) + .24 * math.cos(math.radians(2 * h))
         + .32 * math.cos(math.radians(3 * h + 6)) - .2 * math.cos(math.radians(4 * h - 63)))
    sl = 1 + .015 * (l - 50) ** 2 / math.sqrt(20 + (l - 50) ** 2)
    sc, sh = 1 + .045 * c, 1 + .015 * c * t
    rotate = (-2 * math.sqrt(c ** 7 / (c ** 7 + 25 ** 7))
              * math.sin(math.radians(60 * math.exp(-((h - 275) / 25) ** 2))))
    dl, dc, dh = (l2 - l1) / sl, (c2 - c1) / sc, hue / sh
    return math.sqrt(dl * dl + dc * dc + dh * dh + rotate * dc * dh)


def contrast(one, two):
    def light(colour):
        r, g, b = linear(colour)
        return .2126 * r + .7152 * g + .0722 * b + .05
    a, b = light(one), light(two)
    return max(a, b) / min(a, b)


def check_formula():
    """Two pairs of the table that its authors published (rows 1 and 7)."""
    for one, two, right in (((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 0, 0), (50, -1, 2), 2.3669)):
        assert abs(ciede2000(one, two) - right) < 1e-4, (one, two, ciede2000(one, two))


def main():
    check_formula()
    problems = []
    for screen, palette in read_palettes(PALETTE.read_text()).items():
        for eyes, matrix in EYES.items():
            pairs = [(ciede2000(lab(seen_by(palette[a], matrix)), lab(seen_by(palette[b], matrix))), a, b)
                     for a, b in itertools.combinations([*CAUSES, "work"], 2)]
            print("%s, %s: least difference %.1f (%s, %s)" % (screen, eyes, *min(pairs)))
            problems += ["%s, %s: %s and %s differ by %.1f" % (screen, eyes, a, b, d)
                         for d, a, b in pairs if d < LEAST_DIFFERENCE]
        problems += ["%s: %s against the page: %.2f" % (screen, c, contrast(palette[c], palette["page"]))
                     for c in CAUSES if contrast(palette[c], palette["page"]) < LEAST_CONTRAST]
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
