/** The contract of a runner: how the recipes of one language, with one set of packages, are run. One file for each. */
import type { RecipeCase } from './recipe-cases.ts';

export interface RecipeRunner {
  /** The block of the page that all its recipes begin with. */
  readonly opening: string | null;
  /**
   * Installs what `cases` need, once for each lock. Null where what it takes is not on this machine. Throws where an
   * installation fails.
   */
  readonly prepare: (cases: readonly RecipeCase[]) => PreparedRunner | Missing;
}

/** What there would have to be. */
export interface Missing {
  readonly needs: string;
}

export interface PreparedRunner {
  /** Why this one cannot be run here; null where it can. */
  readonly reasonAgainst: (one: RecipeCase) => string | null;
  /** Puts the recipe's text into `folder`; returns the shell command that runs it there. */
  readonly write: (folder: string, one: RecipeCase, text: RecipeText) => string;
  /** Besides the keys that all recipes have. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface RecipeText {
  /** Empty where its language has none. */
  readonly opening: string;
  readonly code: string;
}

export function alwaysRuns(): null {
  return null;
}
