"""What somebody would give a film: the ratings that they gave the films most like it.

    python examples/rating_from_neighbors.py

`rank` scores the films that a person has rated by how much they belong with the film in question. The prediction is the
film's mean, plus the mean of what the person gave the nearest films above or below their means, by these scores.
"""

import random
import sqlite3
from statistics import fmean

import setsearch

NEAREST = 8
LIKED = 4  # of five stars


def made_up(people: int = 150, films: int = 60) -> dict[str, dict[str, float]]:
    """Film -> person -> stars. Films are of three kinds, and each person likes one of them more."""
    chance = random.Random(1)
    taste = {f"person {p}": p % 3 for p in range(people)}
    return {
        f"film {f}": {
            person: min(5.0, max(1.0, round(3 + (1 if f % 3 == kind else -0.5) + chance.gauss(0, 0.7))))
            for person, kind in taste.items()
            if chance.random() < 0.5
        }
        for f in range(films)
    }


def predict(films: setsearch.Reading, ratings: dict[str, dict[str, float]], person: str, film: str) -> float:
    """The stars that a person would give a film."""
    means = {name: fmean(own.values()) for name, own in ratings.items()}
    seen = [name for name, own in ratings.items() if person in own and name != film]
    nearest = films.rank(seen, [film])[:NEAREST]
    weights = [max(hit.score, 0.0) for hit in nearest]
    above = [
        weight * (ratings[hit.item][person] - means[hit.item]) for hit, weight in zip(nearest, weights, strict=True)
    ]
    return means[film] + (sum(above) / sum(weights) if any(weights) else 0.0)


def main() -> None:
    """Hold out ratings, predict them, and print the mean errors of the prediction and of the film's mean."""
    ratings = made_up()
    chance = random.Random(2)
    held_out = [(film, chance.choice(sorted(own))) for film, own in ratings.items()]
    truth = {(film, person): ratings[film].pop(person) for film, person in held_out}
    with setsearch.open(sqlite3.connect(":memory:"), create=True) as index:
        likes = {film: [p for p, stars in own.items() if stars >= LIKED] for film, own in ratings.items()}
        index.add(likes.items(), ("film", "person"))
        films = index.items("film")
        errors = [
            (abs(predict(films, ratings, person, film) - stars), abs(fmean(ratings[film].values()) - stars))
            for (film, person), stars in truth.items()
        ]
    print(f"mean error, stars: by neighbors {fmean(e for e, _ in errors):.2f}, by the film's mean ", end="")
    print(f"{fmean(e for _, e in errors):.2f}")


if __name__ == "__main__":
    main()
