/** Kinds of jobs about the calls of all accounts. They are noted in the first, and are the operator's alone to see. */
export const OPERATOR_JOBS: readonly string[] = ['verify', 'index_log', 'texts'];
