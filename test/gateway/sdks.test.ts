import { afterAll, beforeAll } from 'vitest';
import { testAi } from './sdk-ai.ts';
import { testAnthropic } from './sdk-anthropic.ts';
import { testAnthropicAws } from './sdk-anthropic-aws.ts';
import { testBedrock } from './sdk-bedrock.ts';
import { testBedrockAi } from './sdk-bedrock-ai.ts';
import { type SdkComparison, startSdkComparison } from './sdk-comparison.ts';
import { testGemini } from './sdk-gemini.ts';
import { testOpenai } from './sdk-openai.ts';
import { testSigning } from './sdk-signing.ts';
import { testTogether } from './sdk-together.ts';

// One gateway for all SDKs: most of the time would go into starting it.
let comparison: SdkComparison;
beforeAll(async () => {
  comparison = await startSdkComparison();
});
afterAll(() => comparison.stop());

const started = (): SdkComparison => comparison;

testOpenai(started);
testAnthropic(started);
testGemini(started);
testTogether(started);
testAi(started);
testBedrock(started);
testBedrockAi(started);
testAnthropicAws(started);
testSigning(started);
