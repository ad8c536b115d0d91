"""A large result crosses between processes once."""

import numpy as np

from xebench.measuring.sent_results import KEPT, ReceivedResults, SentResults


def large(value: int) -> np.ndarray:
    array = np.full(8, value)
    array.setflags(write=False)
    return array


def test_the_same_array_is_sent_once_and_arrives_as_the_same_object() -> None:
    sent, received = SentResults(), ReceivedResults()
    result = large(1)
    first = sent.numbered({"c": result})
    again = sent.numbered({"c": result})
    assert again["c"].array is None
    one = received.arrays({"c": first["c"]._replace(array=result.copy())})["c"]
    other = received.arrays(again)["c"]
    assert one is other and not one.flags.writeable
    np.testing.assert_array_equal(one, result)


def test_another_array_with_the_same_name_is_sent() -> None:
    sent, received = SentResults(), ReceivedResults()
    for value in (1, 2, 1):
        found = received.arrays(sent.numbered({"c": large(value)}))["c"]
        np.testing.assert_array_equal(found, np.full(8, value))


def test_a_result_that_may_change_is_sent_each_time() -> None:
    sent = SentResults()
    result = np.arange(4)
    assert sent.numbered({"c": result})["c"] is result
    assert sent.numbered({"c": result})["c"] is result


def test_both_sides_forget_the_same_results() -> None:
    sent, received = SentResults(), ReceivedResults()
    results = [large(value) for value in range(KEPT + 1)]
    for result in results:
        received.arrays(sent.numbered({"c": result}))
    forgotten = sent.numbered({"c": results[0]})
    assert forgotten["c"].array is results[0]
    np.testing.assert_array_equal(received.arrays(forgotten)["c"], results[0])
    latest = sent.numbered({"c": results[-1]})
    assert latest["c"].array is None
    np.testing.assert_array_equal(received.arrays(latest)["c"], results[-1])
