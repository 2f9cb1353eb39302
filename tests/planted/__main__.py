"""Print precision and recall of each finding."""

from tests.planted import lines

if __name__ == "__main__":
    print("\n".join(lines()))
