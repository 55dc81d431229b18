/** What a framework answers when it is asked where it is. */

export interface Position {
  /** The framework's own name of what runs; null where it has none. */
  readonly runId: string | null;
  /** From the outermost inwards. */
  readonly names: readonly string[];
}

export const NOWHERE: Position = Object.freeze({ runId: null, names: Object.freeze([]) });

/** Of spans inside of spans; beyond that the outer ones are left out. */
export const MAX_DEPTH = 200;
