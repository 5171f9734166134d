"""Which registered repository a clone is."""

from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.registration import Alias, Fact, Known, identify, strongest

UPSTREAM = Alias(Fact.REMOTE, "git.example/acme/shop")
FORK = Alias(Fact.REMOTE, "git.example/ann/shop")
ROOT = Alias(Fact.ROOT_COMMIT, "a" * 40)
PLACE = Alias(Fact.PATH, "/srv/shop")
KEY = Alias(Fact.KEY, "shop")


def known(repository_id, *aliases):
    return Known(repository_id, strongest(a.kind for a in aliases), frozenset(aliases))


def test_nothing_registered_is_nothing_found():
    assert identify([UPSTREAM, ROOT], []) is None


def test_a_fork_is_another_repository_although_the_root_commit_is_shared():
    assert identify([FORK, ROOT], [known("r1", UPSTREAM, ROOT)]) is None


def test_a_root_commit_that_two_forks_share_decides_nothing():
    both = [known("r1", UPSTREAM, ROOT), known("r2", FORK, ROOT)]

    assert identify([ROOT], both) is None
    assert identify([FORK, ROOT], both) == ("r2", Fact.REMOTE)


def test_a_shared_root_commit_decides_for_the_one_that_is_identified_by_it():
    three = [known("r1", UPSTREAM, ROOT), known("r2", FORK, ROOT), known("r3", ROOT)]

    assert identify([ROOT], three) == ("r3", Fact.ROOT_COMMIT)


def test_a_repository_without_a_remote_gets_its_first_one():
    assert identify([UPSTREAM, ROOT], [known("r1", ROOT)]) == ("r1", Fact.ROOT_COMMIT)


def test_the_key_decides_against_every_weaker_fact():
    two = [known("r1", UPSTREAM, ROOT), known("r2", KEY)]

    assert identify([KEY, UPSTREAM, ROOT], two) == ("r2", Fact.KEY)


def test_a_path_of_an_imported_repository_leads_to_it_until_something_contradicts():
    imported = known("r1", PLACE)

    assert identify([UPSTREAM, PLACE], [imported]) == ("r1", Fact.PATH)
    assert identify([FORK, PLACE], [known("r1", UPSTREAM, PLACE)]) is None


facts = st.builds(Alias, st.sampled_from(list(Fact)), st.sampled_from(["a", "b", "c"]))
repositories = st.lists(st.sets(facts, min_size=1, max_size=5), max_size=4).map(
    lambda sets: [known(f"r{i}", *aliases) for i, aliases in enumerate(sets)]
)


@given(st.sets(facts, min_size=1, max_size=5), repositories, st.randoms())
def test_the_order_of_facts_and_repositories_makes_no_difference(said, registered, random):
    shuffled, turned = list(said), list(registered)
    random.shuffle(shuffled)
    random.shuffle(turned)

    assert identify(shuffled, turned) == identify(sorted(said, key=str), registered)


@given(st.sets(facts, min_size=1, max_size=5), repositories)
def test_what_is_found_has_the_fact_and_no_stronger_one_against_it(said, registered):
    found = identify(said, registered)

    if found is not None:
        one = next(k for k in registered if k.repository_id == found[0])
        assert {a for a in said & one.aliases if a.kind is found[1]}
        for kind in list(Fact)[: list(Fact).index(found[1])]:
            ours = {a for a in said if a.kind is kind}
            theirs = {a for a in one.aliases if a.kind is kind}
            assert not ours or not theirs or ours & theirs


@given(st.sets(facts, min_size=1, max_size=5), repositories)
def test_registering_the_same_clone_again_finds_what_the_first_time_made(said, registered):
    """A registration that makes a repository is not followed by one that makes another."""
    if identify(said, registered) is None:
        found = identify(said, [*registered, known("new", *said)])

        rule = strongest(a.kind for a in said)
        shared = [k for k in registered if k.identified_by is rule and k.aliases & said]
        assert found == ("new", rule) or shared
