"""ChaCha with 8 rounds as a random stream, and the samplers of the benchmark, in plain Python.

The layout is Bernstein's original one: four constant words, eight key words, a 64-bit block counter
that starts at 0, and a 64-bit stream number.
"""

import hashlib
import math
import struct

CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")
COLUMNS_AND_DIAGONALS = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)
MASK = 0xFFFFFFFF


def block(key_words, counter, stream):
    """The 64 bytes of one block, as eight 64-bit words."""
    start = CONSTANTS + key_words + (
        counter & MASK, counter >> 32, stream & MASK, stream >> 32)
    x = list(start)
    for _ in range(4):
        for a, b, c, d in COLUMNS_AND_DIAGONALS:
            xa, xb, xc, xd = x[a], x[b], x[c], x[d]
            xa = (xa + xb) & MASK
            xd ^= xa
            xd = (xd << 16 | xd >> 16) & MASK
            xc = (xc + xd) & MASK
            xb ^= xc
            xb = (xb << 12 | xb >> 20) & MASK
            xa = (xa + xb) & MASK
            xd ^= xa
            xd = (xd << 8 | xd >> 24) & MASK
            xc = (xc + xd) & MASK
            xb ^= xc
            xb = (xb << 7 | xb >> 25) & MASK
            x[a], x[b], x[c], x[d] = xa, xb, xc, xd
    out = [(end + begin) & MASK for end, begin in zip(x, start)]
    return [out[i] | out[i + 1] << 32 for i in range(0, 16, 2)]


def derive_key(suite, seed, split, purpose):
    """The key of the streams of one purpose, as eight 32-bit words."""
    text = f"safecommitbench-controlled/1/{suite}/{seed}/{split}/{purpose}"
    return struct.unpack("<8I", hashlib.sha256(text.encode()).digest())


class Stream:
    """Random 64-bit words, and what is made of them."""

    def __init__(self, key_words, number):
        self.key_words = key_words
        self.number = number
        self.words = []
        self.position = 0

    def restart(self):
        """Back to the first word."""
        self.position = 0
        return self

    def word(self):
        if self.position == len(self.words):
            self.words += block(self.key_words, len(self.words) // 8, self.number)
        self.position += 1
        return self.words[self.position - 1]

    def uniform(self):
        """In [0, 1), a multiple of 2**-53."""
        return (self.word() >> 11) / 2**53

    def below(self, bound):
        """An unbiased integer from 0 to bound - 1: the high half of word * bound, redrawn where it is biased."""
        while True:
            high, low = divmod(self.word() * bound, 2**64)
            if low >= 2**64 % bound:
                return high

    def normal(self, mean, sd):
        """Marsaglia's polar method; the second number of the pair is not kept."""
        while True:
            u = 2.0 * self.uniform() - 1.0
            v = 2.0 * self.uniform() - 1.0
            s = u * u + v * v
            if 0.0 < s < 1.0:
                return mean + sd * (u * math.sqrt(-2.0 * math.log(s) / s))
