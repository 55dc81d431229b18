/** Whether the operator made an alert: by the name that stands in it, which no person and no token can have. */

/** How the operator signs in, before what the command line states. Names of people are addresses. */
export const OPERATOR_NAMES = ['admin token', 'dashboard session'] as const;
export const STATED_BY = ', as stated by ';

export function isMadeByOperator({ createdBy }: { readonly createdBy: string }): boolean {
  return OPERATOR_NAMES.some((name) => createdBy === name || createdBy.startsWith(`${name}${STATED_BY}`));
}
