"""``python -m mauc`` is the command ``mauc``."""

from mauc.cli import main

if __name__ == "__main__":
    main()
