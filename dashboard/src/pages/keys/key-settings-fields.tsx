/** What can be set of a key, when it is made and afterwards. */
import type { ReactNode } from 'react';
import type { Key } from '../../../../src/control/admin/key-bodies.ts';
import { PROVIDER_NAMES, PROVIDERS } from '../../../../src/providers/registry.ts';
import { TextField } from '../../components/form-field.tsx';
import { LimitFields } from './limit-fields.tsx';
import { readLimits, type TypedLimits, typedLimitsOf } from './typed-limits.ts';

type Provider = (typeof PROVIDER_NAMES)[number];

/** Lists as typed, with commas between. */
export interface KeySettings {
  readonly owner: string;
  readonly areBodiesKept: boolean;
  readonly isAllowedInAddress: boolean;
  readonly runsFrom: string;
  /** Empty: all. */
  readonly providers: readonly Provider[];
  readonly models: string;
  readonly aliases: string;
  readonly endpoints: string;
  readonly networks: string;
  readonly limits: TypedLimits;
}

export const DEFAULT_KEY_SETTINGS: KeySettings = {
  owner: '',
  areBodiesKept: true,
  isAllowedInAddress: false,
  runsFrom: '',
  providers: [],
  models: '',
  aliases: '',
  endpoints: '',
  networks: '',
  limits: { concurrent: '', requests: '', tokens: '' },
};

export function settingsOf(key: Key): KeySettings {
  const join = (list: readonly string[] | null) => (list ?? []).join(', ');
  return {
    owner: key.owner ?? '',
    areBodiesKept: key.bodies !== 'off',
    isAllowedInAddress: key.allow_in_address,
    runsFrom: join(key.runs_from),
    providers: key.allowed_providers ?? [],
    models: join(key.allowed_models),
    aliases: join(key.allowed_aliases),
    endpoints: join(key.allowed_endpoints),
    networks: join(key.allowed_networks),
    limits: typedLimitsOf(key),
  };
}

/** As the API takes them, without the policy of bodies. Throws where a limit is no number. */
export function readSettings(settings: KeySettings) {
  const { owner, providers } = settings;
  return {
    owner: owner.trim() === '' ? null : owner,
    allow_in_address: settings.isAllowedInAddress,
    runs_from: split(settings.runsFrom),
    allowed_providers: providers.length === 0 ? null : [...providers],
    allowed_models: readAllowed(settings.models),
    allowed_aliases: readAllowed(settings.aliases),
    allowed_endpoints: readAllowed(settings.endpoints),
    allowed_networks: readAllowed(settings.networks),
    ...readLimits(settings.limits),
  };
}

function split(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function readAllowed(text: string): string[] | null {
  const items = split(text);
  return items.length === 0 ? null : items;
}

interface KeySettingsFieldsProps {
  readonly settings: KeySettings;
  readonly onChange: (settings: KeySettings) => void;
}

export function KeySettingsFields({ settings, onChange }: KeySettingsFieldsProps) {
  return (
    <>
      <TextField
        label="Owner"
        hint="Who answers for it: a person, a team."
        value={settings.owner}
        maxLength={200}
        onChange={(owner) => onChange({ ...settings, owner })}
      />
      <AllowedFields settings={settings} onChange={onChange} />
      <LimitFields limits={settings.limits} onChange={(limits) => onChange({ ...settings, limits })} />
      <Choice
        label="Keep requests and answers of its calls"
        hint="Off: only the figures are kept, never the texts."
        isOn={settings.areBodiesKept}
        onChange={(areBodiesKept) => onChange({ ...settings, areBodiesKept })}
      />
      <Choice
        label="May stand in a base address, as /@KEY"
        hint="For clients that cannot send a header. It may get into shell histories, and into the logs of what is in front of the gateway."
        isOn={settings.isAllowedInAddress}
        onChange={(isAllowedInAddress) => onChange({ ...settings, isAllowedInAddress })}
      />
      <TextField
        label="Runs from, besides X-Gateway-Trace-Id"
        hint="“agents” makes each session of Claude Code, Codex, opencode and others one run. “tool_calls” does the same for agents that name no session, from their first tool call. Others: traceparent, x-amzn-trace-id, metadata.KEY; with commas between, the first that a call has decides."
        value={settings.runsFrom}
        maxLength={1000}
        placeholder="agents"
        onChange={(runsFrom) => onChange({ ...settings, runsFrom })}
      />
    </>
  );
}

/** What its calls may use. It opens by itself where something is limited. */
function AllowedFields({ settings, onChange }: KeySettingsFieldsProps) {
  const { providers, models, aliases, endpoints, networks } = settings;
  const isLimited = providers.length > 0 || [models, aliases, endpoints, networks].some((text) => text.trim() !== '');
  return (
    <details open={isLimited} className="rounded-md border border-line px-3 py-2">
      <summary className="cursor-pointer">What its calls may use{isLimited ? '' : ': everything'}</summary>
      <div className="mt-3 flex flex-col gap-3">
        <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
          <legend className="mb-1 text-xs text-ink-soft">Providers (none chosen: all)</legend>
          {PROVIDER_NAMES.map((name) => (
            <label key={name} className="flex items-center gap-1.5">
              <input
                type="checkbox"
                checked={providers.includes(name)}
                onChange={({ target }) =>
                  onChange({
                    ...settings,
                    providers: PROVIDER_NAMES.filter((one) =>
                      one === name ? target.checked : providers.includes(one),
                    ),
                  })
                }
              />
              {PROVIDERS[name].displayName}
            </label>
          ))}
        </fieldset>
        <TextField
          label="Models"
          hint="As clients name them, with * for any characters and commas between. Empty: all. Calls whose model cannot be read are refused then."
          value={models}
          placeholder="gpt-5-mini*, *claude-sonnet*"
          onChange={(text) => onChange({ ...settings, models: text })}
        />
        <TextField
          label="Aliases"
          hint="- stands for a provider’s own address. Empty: all."
          value={aliases}
          placeholder="eu, -"
          onChange={(text) => onChange({ ...settings, aliases: text })}
        />
        <TextField
          label="Endpoints"
          hint="By the names that the log has. Empty: all."
          value={endpoints}
          placeholder="chat.completions, models"
          onChange={(text) => onChange({ ...settings, endpoints: text })}
        />
        <TextField
          label="Source networks"
          hint="Addresses and ranges that its calls may come from. Empty: from everywhere."
          value={networks}
          placeholder="10.0.0.0/8, 203.0.113.7"
          onChange={(text) => onChange({ ...settings, networks: text })}
        />
      </div>
    </details>
  );
}

interface ChoiceProps {
  readonly label: ReactNode;
  readonly hint: ReactNode;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

function Choice({ label, hint, isOn, onChange }: ChoiceProps) {
  return (
    <label className="flex items-start gap-2">
      <input type="checkbox" className="mt-1" checked={isOn} onChange={(event) => onChange(event.target.checked)} />
      <span>
        {label}
        <span className="block text-xs text-ink-faint">{hint}</span>
      </span>
    </label>
  );
}
