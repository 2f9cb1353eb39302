"""Short fine-tuning of a real encoder, in a process of its own, by sentence-transformers' trainers.

Its interface (the page, the command line and the API use nothing else):

    from lossprism.explorer.lab.training.plan import TrainingPlan, TrainingData  # the plan of a run
    from lossprism.explorer.lab.training.run_control import Runs, estimate  # running it
    from lossprism.explorer.lab.training import run_comparison, run_downloads
    from lossprism.explorer.lab.training.probe_batch_exploration import probe_exploration
    from lossprism.explorer.lab.training import new_file_evaluation  # on a user's file

    runs = Runs()                          # the folder of all runs; Runs(path) for another
    name = runs.start(plan)                # queued at once, raises Problem where it cannot run
    runs.status(name, offset=0)            # see below; poll with the returned offset
    runs.pause(name); runs.resume(name); runs.stop(name); runs.delete(name)
    runs.listed()                          # the status of every run, newest first, no records
    unseen = new_file_evaluation.read(file, name)
    run_comparison.table(runs, names, unseen)  # on a file; without it, on held-out pairs
    estimate(plan, is_needed=…)            # seconds, from two trial steps in a process of its own
                                           # (takes as long as they and its start); None once
                                           # `is_needed()`, called all the while, is False

`status` returns a `FollowedRun` and `listed` `RunStatus`es, whose fields and records stand in
`run_json_types`:
    state: queued, loading, training, paused, saving, then finished, stopped, failed or
        interrupted (the process died; `resume` continues from the last checkpoint);
    queue_position: 0 while it runs, 1 for the next, None when it has ended;
    queue_seconds: of training that the runs before a queued one still have, estimated from their
        pace; None where one of them has none yet, or is paused;
    seconds (of training so far), seconds_left (None before the second step);
    records, offset: the log's records since the given offset, and the next offset.

Records, by their `kind`:
    evaluation  figures of the live pairs, a sample of the held-out pairs that is the same in every
                run on them: accuracy, auc and accuracy_threshold where the labels are 0/1;
                accuracy_at_1 and mrr_at_10 where all pairs are positives of one label; lists, of
                pairs with the same first sentence, see `held_out_list_metrics`; alignment,
                uniformity, effective_rank and mean_cosine of a bi-encoder
    held_out    the same figures of all held-out pairs, `when` is "before" or "after"
    alarm       all cosines lie within `high` − `low`; loss and collapse value are those of the
                probe batch
    checkpoint  one that `resume` can continue from
    resumed     records beyond this step no longer count: drop them (−1: all of them)

`runs.history(name)` is the list of records that count (those dropped are left out), and
`runs.probe(name)` the probe batch, None before it is chosen.
`probe_batch_exploration.probe_exploration(runs, name, step, scenario)` computes any loss on the
probe batch as it stood at a recorded step, as `explore` does: its `picture` is the matrix.

On a shared Space (`quota`): `start`, `run_comparison.start_all` and a `resume` that
begins again raise Problem where a run would be too large, or its visitor has too many under way;
`quota.refusal(plan, corpus)` is the same reason beforehand. A run whose time is up ends as
stopped, its model kept, with the problem training_time_up. Elsewhere nothing is bounded.

Measuring takes nothing from the random streams of a run: with the same seed it has the same losses
as sentence-transformers alone, step by step. The exported script shares each batch among the
processes it is launched in, and takes the same steps; a run of ours uses one device.
"""
