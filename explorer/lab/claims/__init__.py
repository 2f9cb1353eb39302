"""The claims of the sources S0 to S4, each executed on the source's own numbers and on any batch.

A claim is one `Claim` in the `CLAIMS` of a module here: data and one pure function. `claim_lookup`
finds them. Verdicts are computed by `verdict.verdict_of`, never quoted.
"""
