/**
 * Sums the usage of many requests that are billed together but priced one by one: where a price depends on the size of
 * a prompt, two small prompts must not look like a large one.
 */
import { COUNTED_CLASSES, type TokenUsage, USAGE_CLASSES, type UsageClass } from '../token-usage.ts';

type Classes = TokenUsage['classes'];

/** No price of the models that are batched changes below this size of prompt. */
const SMALL_PROMPT_TOKENS = 128_000;
/** Sums that are kept apart; what does not fit is added to the last. */
const MAX_SUMS = 100;

const PROMPT_CLASSES: readonly UsageClass[] = USAGE_CLASSES.filter(
  (name) => !name.startsWith('output') && !COUNTED_CLASSES.includes(name),
);

function promptOf(classes: Classes): number {
  return PROMPT_CLASSES.reduce((sum, name) => sum + (classes[name] ?? 0), 0);
}

function add(sum: Partial<Record<UsageClass, number>>, more: Classes): void {
  for (const name of USAGE_CLASSES) {
    const quantity = more[name];
    if (quantity !== undefined) sum[name] = (sum[name] ?? 0) + quantity;
  }
}

/** Sums whose prompts together are still small, and each larger request by itself. */
export function packUsages(usages: readonly Classes[]): readonly Classes[] {
  const sums: { prompt: number; readonly classes: Partial<Record<UsageClass, number>> }[] = [];
  for (const classes of usages) {
    const prompt = promptOf(classes);
    const isFull = sums.length >= MAX_SUMS;
    const open = sums.findLast((sum) => isFull || sum.prompt + prompt <= SMALL_PROMPT_TOKENS);
    if (open === undefined) sums.push({ prompt, classes: { ...classes } });
    else {
      open.prompt += prompt;
      add(open.classes, classes);
    }
  }
  return sums.map(({ classes }) => classes);
}
