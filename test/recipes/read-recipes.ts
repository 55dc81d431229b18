/** The recipes of docs/clients.md: its fenced blocks that are marked "recipe NAME". Pure. */

export interface RecipeBlock {
  readonly name: string;
  readonly language: string;
  readonly code: string;
}

const BLOCK = /^```(?<language>\w+) recipe (?<name>[\w-]+)\n(?<code>[\s\S]*?)^```$/gm;

/** In the order of the page; throws where two have one name. */
export function readRecipes(page: string): readonly RecipeBlock[] {
  const blocks = [...page.matchAll(BLOCK)].map(({ groups = {} }) => ({
    name: groups['name'] ?? '',
    language: groups['language'] ?? '',
    code: groups['code'] ?? '',
  }));
  const repeated = blocks.find(({ name }, index) => blocks.findIndex((other) => other.name === name) !== index);
  if (repeated !== undefined) throw new Error(`two recipes are named ${repeated.name}`);
  return blocks;
}
