/** How each agent is asked one thing without a terminal, and which files of its own it has before it is set up. */
export interface AgentCase {
  /** As `tollgate setup` calls it. */
  readonly setup: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly provider: string;
  /** The run of a call after `setup`, without `run`: by its own ids, or none. */
  readonly hasSession: boolean;
}

const HELLO = 'Say hello.';
const CLAUDE_MODEL = 'claude-haiku-4-5';
const OPENAI_MODEL = 'gpt-5.4-mini';

const CLINE_PROVIDERS = {
  version: 1,
  lastUsedProvider: 'anthropic',
  modes: {},
  providers: {
    anthropic: {
      settings: { provider: 'anthropic', apiKey: 'placeholder', model: CLAUDE_MODEL },
      updatedAt: '2026-11-29T12:00:00.000Z',
      tokenSource: 'manual',
    },
  },
};

export const AGENT_CASES: readonly AgentCase[] = [
  {
    setup: 'claude',
    program: 'claude',
    args: ['-p', HELLO, '--model', CLAUDE_MODEL],
    files: { '.claude/settings.json': '{\n    "env": {"A": "1"},\n    "permissions": {"allow": ["Bash(ls)"]}\n}' },
    provider: 'anthropic',
    hasSession: true,
  },
  {
    setup: 'codex',
    program: 'codex',
    args: ['exec', '--skip-git-repo-check', '-m', OPENAI_MODEL, HELLO],
    files: {
      '.codex/config.toml': '# mine\nmodel_reasoning_effort = "low" # enough\n\n[model_providers.own]\nname = "own"\n',
    },
    provider: 'openai',
    hasSession: true,
  },
  {
    setup: 'gemini',
    program: 'gemini',
    args: ['--skip-trust', '-m', 'gemini-2.5-flash', '-p', HELLO],
    provider: 'gemini',
    hasSession: false,
  },
  {
    setup: 'opencode',
    program: 'opencode',
    args: ['run', '-m', `anthropic/${CLAUDE_MODEL}`, HELLO],
    files: { '.config/opencode/opencode.jsonc': '{\n  // mine\n  "autoupdate": false,\n}\n' },
    provider: 'anthropic',
    hasSession: true,
  },
  {
    setup: 'pi',
    program: 'pi',
    args: ['--provider', 'anthropic', '--model', CLAUDE_MODEL, '-p', HELLO],
    provider: 'anthropic',
    hasSession: true,
  },
  {
    setup: 'qwen',
    program: 'qwen',
    args: ['--auth-type', 'openai', '-m', OPENAI_MODEL, '-p', HELLO],
    provider: 'openai',
    hasSession: false,
  },
  {
    setup: 'cline',
    program: 'cline',
    args: [HELLO],
    files: { '.cline/data/settings/providers.json': JSON.stringify(CLINE_PROVIDERS) },
    provider: 'anthropic',
    hasSession: false,
  },
  {
    setup: 'continue',
    program: 'cn',
    args: ['-p', HELLO],
    files: {
      '.continue/config.yaml': `name: Local
version: 1.0.0
schema: v1
models:
  # the best one
  - name: Haiku
    provider: anthropic
    model: ${CLAUDE_MODEL}
    apiKey: placeholder
    roles: [chat]
`,
    },
    provider: 'anthropic',
    hasSession: false,
  },
  {
    setup: 'aider',
    program: 'aider',
    args: [
      ...['--no-git', '--yes-always', '--no-check-update', '--no-show-release-notes', '--no-analytics'],
      ...['--model', `anthropic/${CLAUDE_MODEL}`, '--message', HELLO],
    ],
    files: { '.aider.conf.yml': '# mine\ndark-mode: true\n' },
    provider: 'anthropic',
    hasSession: false,
  },
];
