"""Face verification scores of five systems from the ORL faces (40 people, 10 images each).

Usage: python examples/make_faces.py orl_faces_23x28.tar.gz [OUTPUT.csv.gz]

People 1-10 train, 11-25 develop, 26-40 test, in the order of the archive: nobody is in two sets. The first three
images of a person enrol, the other seven probe, and every probe is matched against every model of its set. Each
system has one conventional setting; none was tuned on the scores.
"""

from __future__ import annotations

import re
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tables import PACKAGE_DATA, refuse, rounded, write_table

Array = NDArray[np.float64]
Feature = Callable[[Array], Array]
Match = Callable[[Array, Array], float]

HEIGHT, WIDTH = 28, 23
TRAIN, DEVELOPMENT, TEST = range(1, 11), range(11, 26), range(26, 41)
ENROL, PROBE = range(1, 4), range(4, 11)
COMPONENTS = 40
COLUMNS = ("system", "set", "user", "probe_user", "trial", "label", "score")


def read_faces(path: Path) -> dict[tuple[int, int], Array]:
    """Return the images by (person, image), or refuse a file that is not the archive."""
    faces: dict[tuple[int, int], Array] = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = re.fullmatch(r"(?:\./)?s(\d+)/(\d+)\.pgm", member.name)
                content = archive.extractfile(member) if name else None
                if name and content:
                    faces[int(name[1]), int(name[2])] = read_pgm(content.read(), member.name)
    except tarfile.TarError:
        refuse(f"{path}: not a tar archive; give the ORL faces, orl_faces_23x28.tar.gz")
    except (OSError, EOFError) as error:
        refuse(f"{path}: cannot be read ({error}); give the ORL faces, orl_faces_23x28.tar.gz")
    wanted = {(person, image) for person in range(1, 41) for image in range(1, 11)}
    if set(faces) != wanted:
        refuse(f"{path}: {len(faces)} images s1/1.pgm .. s40/10.pgm where the ORL faces have 400; is it the archive?")
    return faces


def read_pgm(data: bytes, name: str) -> Array:
    """Return a binary grey image (P5) of the size we know, values 0 to 1."""
    header = re.match(rb"P5\s+(?:#[^\n]*\s+)*(\d+)\s+(\d+)\s+(\d+)\s", data)
    size = tuple(map(int, header.groups())) if header else ()
    if header is None or size != (WIDTH, HEIGHT, 255) or len(data) - header.end() != WIDTH * HEIGHT:
        refuse(f"{name}: not a binary PGM image of {WIDTH} x {HEIGHT} pixels; give orl_faces_23x28.tar.gz")
    return np.frombuffer(data, np.uint8, offset=header.end()).reshape(HEIGHT, WIDTH) / 255.0


# -- features and matchers -------------------------------------------------------------------------------------------


def cells(image: NDArray[np.generic], rows: int, columns: int) -> Iterator[NDArray[np.generic]]:
    """Cut an image into a grid of nearly equal cells."""
    for band in np.array_split(image, rows, axis=0):
        yield from np.array_split(band, columns, axis=1)


def standardised(image: Array) -> Array:
    """Grey values with mean 0 and length 1, so that the inner product is the correlation."""
    centred = (image - image.mean()).ravel()
    return centred / np.linalg.norm(centred)


def uniform_patterns() -> NDArray[np.intp]:
    """Return the class of each of the 256 local binary patterns: 58 with at most two changes, one for all others."""
    codes = np.arange(256)
    rotated = (codes >> 1) | ((codes & 1) << 7)
    changes = np.array([bin(code).count("1") for code in codes ^ rotated])
    classes = np.full(256, 58)
    classes[changes <= 2] = np.arange(58)
    return classes


def binary_patterns(image: Array) -> Array:
    """Histograms of uniform local binary patterns (8 neighbours) in a grid of 5 x 4 cells (Ahonen et al. 2006)."""
    centre = image[1:-1, 1:-1]
    code = np.zeros(centre.shape, dtype=np.intp)
    ring = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
    for bit, (down, right) in enumerate(ring):
        neighbour = image[1 + down : HEIGHT - 1 + down, 1 + right : WIDTH - 1 + right]
        code |= (neighbour >= centre).astype(np.intp) << bit
    classes = uniform_patterns()[code]
    return np.concatenate([np.bincount(cell.ravel(), minlength=59) / cell.size for cell in cells(classes, 5, 4)])


def gradient_histograms(image: Array) -> Array:
    """Histograms of gradient directions (9 bins, 7 x 6 cells, blocks of 2 x 2; Dalal and Triggs 2005)."""
    down, right = np.gradient(np.sqrt(image))
    bins = np.minimum((np.mod(np.arctan2(down, right), np.pi) / np.pi * 9).astype(np.intp), 8)
    pairs = zip(cells(bins, 7, 6), cells(np.hypot(right, down), 7, 6), strict=True)
    histogram = np.array([np.bincount(b.ravel(), weights=w.ravel(), minlength=9) for b, w in pairs]).reshape(7, 6, 9)
    blocks = [histogram[row : row + 2, column : column + 2].ravel() for row in range(6) for column in range(5)]
    return np.concatenate([block / (np.linalg.norm(block) + 1e-6) for block in blocks])


def closeness(model: Array, probe: Array) -> float:
    """Minus the Euclidean distance."""
    return -float(np.linalg.norm(model - probe))


def cosine(model: Array, probe: Array) -> float:
    """The cosine of the angle between model and probe."""
    return float(model @ probe / (np.linalg.norm(model) * np.linalg.norm(probe)))


def chi_square(model: Array, probe: Array) -> float:
    """Minus the chi-square distance of two histograms."""
    total = model + probe
    return -float(np.sum((model - probe) ** 2 / np.where(total > 0, total, 1.0)))


def make_systems(faces: dict[tuple[int, int], Array]) -> dict[str, tuple[Feature, Match]]:
    """Return each system as its feature and its matcher; those that learn see the training people only."""
    train = np.array([faces[person, image].ravel() for person in TRAIN for image in range(1, 11)])
    person = np.repeat(np.array(TRAIN), 10)
    # Full SVD has no random start, and distances do not see the signs of the components.
    components = PCA(COMPONENTS, svd_solver="full").fit(train)
    discriminants = LinearDiscriminantAnalysis(solver="svd").fit(components.transform(train), person)

    def eigenface(image: Array) -> Array:
        return components.transform(image.reshape(1, -1))[0]

    def fisherface(image: Array) -> Array:
        return discriminants.transform(components.transform(image.reshape(1, -1)))[0]

    return {
        "correlation": (standardised, cosine),
        "eigenfaces": (eigenface, closeness),
        "fisherfaces": (fisherface, closeness),
        "binary-patterns": (binary_patterns, chi_square),
        "gradients": (gradient_histograms, closeness),
    }


def make_rows(faces: dict[tuple[int, int], Array]) -> Iterator[tuple[str, ...]]:
    """Match every probe against every model (the mean of its enrolled features) of the same set."""
    for system, (feature, match) in make_systems(faces).items():
        for name, people in (("dev", DEVELOPMENT), ("test", TEST)):
            models = {user: np.mean([feature(faces[user, image]) for image in ENROL], axis=0) for user in people}
            for probe_user in people:
                for image in PROBE:
                    probe = feature(faces[probe_user, image])
                    for user, model in models.items():
                        trial = f"s{probe_user}-{image}-s{user}"
                        label = str(int(user == probe_user))
                        score = rounded(match(model, probe), 5)
                        yield system, name, f"s{user}", f"s{probe_user}", trial, label, score


def main(arguments: list[str]) -> None:
    """Make the table."""
    if not 1 <= len(arguments) <= 2:
        refuse("usage: python examples/make_faces.py orl_faces_23x28.tar.gz [OUTPUT.csv.gz]")
    output = Path(arguments[1]) if len(arguments) == 2 else PACKAGE_DATA / "faces.csv.gz"
    write_table(output, COLUMNS, make_rows(read_faces(Path(arguments[0]))))


if __name__ == "__main__":
    main(sys.argv[1:])
