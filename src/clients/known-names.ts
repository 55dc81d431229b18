/**
 * The names of programs that say no more than that in their user agent, by its first product without the version, or by
 * the last where a framework appends its own. The first match wins; what no row knows keeps its product's name.
 */
export const KNOWN_NAMES: readonly (readonly [RegExp, string])[] = Object.freeze([
  // `AsyncOpenAI/Python`, `OpenAIClientImpl/Java` and `OpenAIClientAsyncImpl/Java` are one SDK each.
  [/^Async([A-Z]\w*\/\w+)$/, '$1'],
  [/^(\w+?)Client(?:Async)?Impl\/(\w+)$/, '$1/$2'],
  // The parts of these libraries name themselves after providers.
  [/^langchain4j(?:-[\w-]+)?$/i, 'langchain4j'],
  [/^langchain(?:js)?(?:-[\w-]+)?$/i, 'langchain'],
  [/^ai(?:-sdk\/[\w-]+)?$/, 'ai-sdk'],
  [/^Agents\/\w+$/, 'openai-agents'],
  [/^DSPy$/, 'dspy'],
  // `GeminiCLI-tui/0.61.0/gemini-2.5-pro (…)`, `GeminiCLI/…`
  [/^GeminiCLI(?:-\w+)?$/, 'gemini-cli'],
  [/^QwenCode$/, 'qwen-code'],
]);
