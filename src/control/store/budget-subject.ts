/**
 * What an alert about a budget was told of: the budget, the value, the period and the percent, as one text in SQL. It is by this
 * text that it is not told again.
 */

interface SubjectParts {
  readonly budgetId: string;
  readonly value: string;
  readonly period: string;
  readonly percent: string;
}

export function budgetSubject({ budgetId, value, period, percent }: SubjectParts): string {
  return `'budget ' || ${budgetId} || ' ' || ${value} || ' ' || ${period} || ' ' || ${percent}`;
}

/** Its parts, by `regexp_match`: a value may have spaces. */
export const BUDGET_SUBJECT = "'^budget (\\d+) (.*) (\\S+) (\\d+)$'";
