/** Recipes that are commands. */
import { alwaysRuns, type RecipeRunner } from '../recipe-runner.ts';

export const shell: RecipeRunner = {
  opening: null,
  prepare: () => ({ reasonAgainst: alwaysRuns, write: (_folder, _one, { code }) => code }),
};
