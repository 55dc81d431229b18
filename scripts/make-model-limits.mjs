/**
 * Writes `src/pricing/greatest/model-limits.json`: the longest prompt and answer of each model, from litellm's
 * `model_prices_and_context_window.json`, the installed genai-prices and what was noted by hand of providers' pages
 * (`noted-model-limits.json`). Where two sources differ, the larger counts: a limit that is too small would let a budget be passed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { findProvider } from '@pydantic/genai-prices';
import { LITELLM_PROVIDERS } from '../bench/prices/read-litellm.ts';

const [, , file, checkedOn] = process.argv;
if (file === undefined || !/^\d{4}-\d\d-\d\d$/.test(checkedOn ?? '')) {
  process.stderr.write('Usage: npm run prices:limits -- litellm.json YYYY-MM-DD (the day of the file)\n');
  process.exit(2);
}

const GENAI_IDS = {
  openai: 'openai',
  anthropic: 'anthropic',
  gemini: 'google',
  bedrock: 'aws',
  fireworks: 'fireworks',
  together: 'together',
  deepseek: 'deepseek',
};
const PREFIX = /^(?:openai|anthropic|gemini|bedrock(?:_mantle|_converse)?|fireworks_ai|together_ai|deepseek)\//;
const NO_MODEL =
  /^(?:\d|(?:hd|standard|low|medium|high|auto)\/|(?:max-x|512-x|1024-x|256-x)|together-ai-|fireworks-ai-|[a-z]{2}-[a-z-]+-\d\/|\*\/|invoke\/|claude_platform\/)/;
const GEOGRAPHY = /^(?:global|us-gov|us|eu|apac|jp|au|ca|in)\.(?=[a-z][\w-]*\.)/;
/** Sonnet 4 and 4.5 take prompts of a million tokens with a beta header, which catalogs leave out. */
const MILLION = /(?:^|\.)claude-sonnet-4(?:-5)?(?:-2025|-v|@|$)/;

const models = new Map();
function note(provider, model, context, output) {
  const key = `${provider}\n${model.toLowerCase()}`;
  const known = models.get(key) ?? [0, 0];
  const million = MILLION.test(model) ? 1_000_000 : 0;
  models.set(key, [Math.max(known[0], Number(context) || 0, million), Math.max(known[1], Number(output) || 0)]);
}

for (const [key, entry] of Object.entries(JSON.parse(readFileSync(file, 'utf8')))) {
  const provider = LITELLM_PROVIDERS[entry.litellm_provider];
  if (provider === undefined) continue;
  const name = key.replace(PREFIX, '');
  if (NO_MODEL.test(name)) continue;
  const model = provider === 'bedrock' ? name.replace(GEOGRAPHY, '') : name;
  const id = provider === 'fireworks' && !model.includes('/') ? `accounts/fireworks/models/${model}` : model;
  note(provider, id, entry.max_input_tokens, entry.max_output_tokens);
}
for (const [provider, providerId] of Object.entries(GENAI_IDS))
  for (const { id, context_window } of findProvider({ providerId })?.models ?? [])
    note(provider, id, context_window, 0);

const noted = JSON.parse(readFileSync(new URL('noted-model-limits.json', import.meta.url), 'utf8'));
for (const { limits, models: byProvider } of noted)
  for (const [provider, ids] of Object.entries(byProvider))
    for (const id of ids) note(provider, id, limits.context, limits.output);

/** Models with the same limits share a line. */
const lines = Object.keys(GENAI_IDS).map((provider) => {
  const groups = new Map();
  for (const [key, [context, output]] of [...models].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [owner, model] = key.split('\n');
    if (owner !== provider || context + output === 0) continue;
    const limits = `${context},${output}`;
    groups.set(limits, [...(groups.get(limits) ?? []), model]);
  }
  const rows = [...groups].map(([limits, ids]) => {
    const [context, output] = limits.split(',').map(Number);
    const tokens = `${context > 0 ? `"context": ${context}, ` : ''}${output > 0 ? `"output": ${output}, ` : ''}`;
    return `      { ${tokens}"models": ${JSON.stringify(ids)} }`;
  });
  return `    ${JSON.stringify(provider)}: [\n${rows.join(',\n')}\n    ]`;
});
const source =
  'litellm, model_prices_and_context_window.json; @pydantic/genai-prices, context windows; scripts/noted-model-limits.json';
const target = new URL('../src/pricing/greatest/model-limits.json', import.meta.url);
writeFileSync(
  target,
  `{\n  "source": ${JSON.stringify(source)},\n  "checkedOn": "${checkedOn}",\n  "limits": {\n${lines.join(',\n')}\n  }\n}\n`,
);
