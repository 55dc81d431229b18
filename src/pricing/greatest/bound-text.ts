/** The greatest cost of a call that is answered by a model: chat, responses, messages, completions. */
import { TOOL_CLASSES, type UsageClass } from '../../vocabulary/token-usage.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import type { AskedRequest } from './asked-request.ts';
import { boundPrompt } from './bound-prompt.ts';
import { type BoundedCall, dearest, known, ROUNDING, readWindow, unknown } from './bounded-call.ts';
import { priceAtMost, type RateOf } from './dearest-rates.ts';
import type { GreatestCost, OutputLimit } from './greatest-cost.ts';
import type { KnownPrompt } from './known-prompts.ts';

/** They search before every answer, whatever the request says. Source: OpenAI, Web search, chat completions; November 2026. */
const SEARCHES_ALWAYS = /gpt-.+-search-(?:preview|api)/;
/** What it found is billed as a part of the prompt; that of the older ones is not. Source: OpenAI, Pricing; November 2026. */
const READS_FOUND = /-search-api/;

export function boundText(asked: BoundedCall, request: AskedRequest, counted: KnownPrompt | null): GreatestCost {
  const { limits, model } = asked;
  const { openEnd, tools } = request;
  if (openEnd !== null) return { kind: 'unknown', ...openEnd };
  if (tools.endless !== null) return { kind: 'unknown', ...tools.endless };
  const searches = SEARCHES_ALWAYS.test(model) ? 1 : 0;
  const readsMore = searches > 0 && READS_FOUND.test(model);
  const prompt = boundPrompt(asked, readsMore ? { ...request, namesStored: true } : request, counted);
  if (prompt === null) return unknown('unknown-length');
  const rateOf = findRates(asked, request);
  // A tier by the prompt's length is by that of one call of the model.
  const longest = Math.min(prompt.tokens, readWindow(limits) ?? prompt.tokens);
  const inputRate = dearest(rateOf, prompt.classes, longest);
  if (inputRate === null) return unknown('unpriced');
  const outputClasses: readonly UsageClass[] =
    request.wantsSound || /tts|audio/.test(model)
      ? ['output', 'output_image', 'output_audio', 'output_video']
      : ['output', 'output_image'];
  const outputRate = dearest(rateOf, outputClasses, longest);
  const outputLimit: OutputLimit = request.statedOutput === null ? 'model' : 'stated';
  const ofOne = request.statedOutput ?? limits.output ?? limits.prompt;
  // A model without a price for output has none: it embeds.
  if (outputRate !== null && ofOne === null) return unknown('no-maximum');
  const rounds = tools.rounds;
  const outputTokens = outputRate === null ? 0 : (ofOne ?? 0) * request.answers * rounds + request.predictedBytes;
  const fees = priceTools(rateOf, rounds - 1 + tools.groundings + searches);
  if (fees === null) return unknown('unpriced');
  const amount = priceAtMost(prompt.tokens, inputRate) + priceAtMost(outputTokens, outputRate ?? 0n) + fees + ROUNDING;
  return known(amount, outputRate === null ? 'fixed' : outputLimit, prompt.tokens, outputTokens);
}

function priceTools(rateOf: RateOf, fees: number): PicoUsd | null {
  if (fees === 0) return 0n;
  const rate = dearest(rateOf, TOOL_CLASSES, 0);
  return rate === null ? null : priceAtMost(fees, rate);
}

/** Terms may stand in the body and in headers; which of them the provider heeds is not known where both do. */
function findRates({ call, rateFor }: BoundedCall, request: AskedRequest): RateOf {
  const ofBody = rateFor(request);
  const { askedByHeaders } = call;
  if (askedByHeaders === undefined) return ofBody;
  const ofHeaders = rateFor({
    serviceTier: askedByHeaders.serviceTier ?? request.serviceTier,
    speed: askedByHeaders.speed ?? request.speed,
    inferenceGeo: request.inferenceGeo,
  });
  return (usageClass, promptTokens) => {
    const first = ofBody(usageClass, promptTokens);
    const second = ofHeaders(usageClass, promptTokens);
    if (first === null || second === null) return null;
    if (first > second) return first;
    return second;
  };
}
