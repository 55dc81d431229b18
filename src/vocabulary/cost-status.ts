/**
 * What is known about a call's cost. `exact`: every class is priced and the usage is complete. `partial`: a part of the
 * cost is known. `unpriced`: there is usage, but no price for the model, or the endpoint is unknown. `no_usage`: it may
 * have cost something, but usage is missing. `not_billed`: nothing billable happened.
 */
export type CostStatus = 'exact' | 'partial' | 'unpriced' | 'no_usage' | 'not_billed';
