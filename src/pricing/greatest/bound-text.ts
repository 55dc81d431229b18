/** The greatest cost of a call that is answered by a model: chat, responses, messages, completions. */
import { TOOL_CLASSES, type UsageClass } from '../../vocabulary/token-usage.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import type { AskedRequest } from './asked-request.ts';
import { boundPrompt } from './bound-prompt.ts';
import { type BoundedCall, dearest, known, ROUNDING, readWindow, unknown } from './bounded-call.ts';
import { priceAtMost, type RateOf } from './dearest-rates.ts';
import type { GreatestCost, OutputLimit } from './greatest-cost.ts';
import type { KnownPrompt } from './known-prompts.ts';

export function boundText(asked: BoundedCall, request: AskedRequest, counted: KnownPrompt | null): GreatestCost {
  const { limits, model } = asked;
  if (request.isOpenEnded) return unknown('no-maximum');
  const prompt = boundPrompt(asked, request, counted);
  if (prompt === null) return unknown('no-maximum');
  const rateOf = asked.rateFor(request);
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
  const rounds = request.tools.rounds ?? 1;
  const outputTokens = outputRate === null ? 0 : (ofOne ?? 0) * request.answers * rounds + request.predictedBytes;
  const fees = priceTools(rateOf, request, rounds - 1);
  if (fees === null) return unknown('unpriced');
  const amount = priceAtMost(prompt.tokens, inputRate) + priceAtMost(outputTokens, outputRate ?? 0n) + fees + ROUNDING;
  return known(amount, outputRate === null ? 'fixed' : outputLimit, prompt.tokens, outputTokens);
}

function priceTools(rateOf: RateOf, { tools }: AskedRequest, uses: number): PicoUsd | null {
  if (uses === 0 && !tools.isGrounded) return 0n;
  const rate = dearest(rateOf, TOOL_CLASSES, 0);
  return rate === null ? null : priceAtMost(uses + (tools.isGrounded ? 1 : 0), rate);
}
