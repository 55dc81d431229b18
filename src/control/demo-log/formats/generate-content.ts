/** A call in Gemini's generateContent format. One question, no tools. */
import type { PlannedCall } from '../planned-call.ts';
import { type DemoFormat, dataLine, questionOf, splitText } from './format.ts';

function writeUsage({ tokens: { input, cacheRead, output, reasoning } }: PlannedCall): object {
  const prompt = input + cacheRead;
  return {
    promptTokenCount: prompt,
    cachedContentTokenCount: cacheRead || undefined,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning || undefined,
    totalTokenCount: prompt + output,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
  };
}

function writeThought({ answer }: PlannedCall): readonly object[] {
  return answer.reasoning === null ? [] : [{ text: answer.reasoning, thought: true }];
}

function writeChunk({ mark, model }: PlannedCall, parts: readonly object[], usage: object, isLast: boolean): object {
  return {
    candidates: [{ content: { parts, role: 'model' }, finishReason: isLast ? 'STOP' : undefined, index: 0 }],
    usageMetadata: usage,
    modelVersion: model.served,
    responseId: mark,
  };
}

export const generateContent: DemoFormat = {
  request(call) {
    const { text, image } = questionOf(call);
    const picture = image === null ? [] : [{ inlineData: { mimeType: 'image/png', data: image } }];
    return {
      systemInstruction: call.system === null ? undefined : { parts: [{ text: call.system }] },
      contents: [{ role: 'user', parts: [{ text }, ...picture] }],
      generationConfig: { temperature: 0.4, maxOutputTokens: 4_096 },
    };
  },
  whole: (call) => writeChunk(call, [...writeThought(call), { text: call.answer.text }], writeUsage(call), true),
  stream(call) {
    const begun = { promptTokenCount: call.tokens.input + call.tokens.cacheRead };
    const parts = [...writeThought(call), ...splitText(call.answer.text).map((text) => ({ text }))];
    return parts
      .map((part, index) => {
        const isLast = index === parts.length - 1;
        return dataLine(writeChunk(call, [part], isLast ? writeUsage(call) : begun, isLast));
      })
      .join('');
  },
};
