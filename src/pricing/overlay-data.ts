/** Reads and validates the files of `price-data/` once. */
import anthropic from './price-data/anthropic.json' with { type: 'json' };
import bedrock from './price-data/bedrock.json' with { type: 'json' };
import deepseek from './price-data/deepseek.json' with { type: 'json' };
import fireworks from './price-data/fireworks.json' with { type: 'json' };
import gemini from './price-data/gemini.json' with { type: 'json' };
import openai from './price-data/openai.json' with { type: 'json' };
import together from './price-data/together.json' with { type: 'json' };
import { type PriceData, parsePriceData } from './price-data.ts';

export const OVERLAY_DATA: readonly PriceData[] = Object.entries({
  openai,
  anthropic,
  gemini,
  bedrock,
  fireworks,
  together,
  deepseek,
}).map(([provider, data]) => parsePriceData(`${provider}.json`, data));
