"""Short fine-tuning of a real encoder, in a process of its own, by sentence-transformers' trainers.

Its interface (the page, the command line and the API use nothing else):

    from explorer.lab.training.plan import TrainingPlan, TrainingData     # the plan of a run
    from explorer.lab.training.runs import Runs, estimate                 # running it
    from explorer.lab.training import rank_changes, run_comparison, takeaway  # its results
    from explorer.lab.training import unseen_pairs                        # on a file of the user's

    runs = Runs()                          # the folder of all runs; Runs(path) for another
    name = runs.start(plan)                # queued at once, raises Problem where it cannot run
    runs.status(name, offset=0)            # a dict, see below; poll with the returned offset
    runs.pause(name); runs.resume(name); runs.stop(name); runs.delete(name)
    runs.listed()                          # the same dict for every run, newest first, no records
    run_comparison.table(runs, names, unseen_pairs.read(file, name))    # on a file; else held out
    estimate(plan, is_needed=…)            # seconds, from two trial steps in a process of its own
                                           # (takes as long as they and its start); None once
                                           # `is_needed()`, called all the while, is False

`status` returns
    id, loss, encoder, kind, plan (JSON of the plan), created (seconds since 1970);
    state: queued, loading, training, paused, saving, then finished, stopped, failed or
        interrupted (the process died; `resume` continues from the last checkpoint);
    shared: whether others may read it by its link;
    queue_position: 0 while it runs, 1 for the next, null when it has ended;
    queue_seconds: of training that the runs before a queued one still have, estimated from their
        pace; null where one of them has none yet, or is paused;
    step, steps, seconds (of training so far), seconds_left (null before the second step);
    loading: null, or while it loads {part: libraries, encoder or held_out, seconds so far};
    problem: null or {key, values}, a sentence of the catalogues;
    summary: null or the contents of summary.json, see below;
    records, offset: the log's records since the given offset, and the next offset.

Records, each with `kind` and `step`:
    step        loss, gradient_norm, learning_rate, seconds
    evaluation  on the live pairs (a sample of the held-out pairs, the same in every run on them):
                pairs, their number; spearman, pearson, and
                accuracy, auc, accuracy_threshold where the labels are 0/1, else null;
                accuracy_at_1 and mrr_at_10 where all pairs are positives of one label, else null;
                lists, of the lists among them, as of held_out;
                histogram {edges, counts: one list for each band of `probe.bands`}; probe, the
                score of each probe pair; and for a bi-encoder alignment, uniformity,
                effective_rank, mean_cosine, else null; seconds
    held_out    the same figures without probe on all held-out pairs, before and after: `when`
                is "before" or "after"; and lists, null without lists among them (pairs with the
                same first sentence), else {ndcg_at_10, mrr_at_10: means over `count` lists; alike,
                without: how many were left out for equal labels, or for none that is relevant;
                floor: the label that gains nothing}, see `in_lists`
    alarm       since (a step), low, high, loss, collapse: all cosines lie within `high` − `low`;
                loss and collapse value are those of the probe batch
    checkpoint  one that `resume` can continue from
    resumed     what stood in the log beyond this step no longer counts: drop it (−1: all of it)
    paused, continued

`runs.history(name)` is the list of records that count (those dropped are left out), and
`runs.probe(name)` the probe batch {first, second, labels, bands: [[low, high], …], size of the
live sample as live}, None before it is chosen. `rank_changes.exploration(runs, name, step,
scenario)` computes any loss on the probe batch as it stood at a recorded step, as `explore` does:
its `picture` is the matrix.

summary.json: loss (of the last step), steps, seconds, steps_per_second, before and after (the
figures of the held-out pairs), threshold, label_range, pairs (train, held_out), skipped, shared
(sentences that stand in both, only with a held-out file of one's own), repeated (how many of the
held-out pairs repeat another, see `pair_influence.repeats`), examples (their `form` and
`count`: pairs, classes, triplets or lists, see `rows`), kept_step.

On a shared Space (`quota`): `start`, `run_comparison.start_all` and a `resume` that
begins again raise Problem where a run would be too large, or its visitor has too many under way;
`quota.why_not(plan, corpus)` is the same reason beforehand. A run whose time is up ends as
stopped, its model kept, with the problem training_time_up. Elsewhere nothing is bounded.

Measuring takes nothing from the random streams of a run: with the same seed it has the same losses
as sentence-transformers alone, step by step. The exported script shares each batch among the
processes it is launched in, and takes the same steps; a run of ours uses one device.
"""
