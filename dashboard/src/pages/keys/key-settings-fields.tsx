/** What can be set of a key, when it is made and afterwards. */
import type { ReactNode } from 'react';
import { TextField } from '../../components/form-field.tsx';

export interface KeySettings {
  readonly areBodiesKept: boolean;
  readonly isAllowedInAddress: boolean;
  /** As typed, with commas between. */
  readonly runsFrom: string;
}

export const DEFAULT_KEY_SETTINGS: KeySettings = { areBodiesKept: true, isAllowedInAddress: false, runsFrom: '' };

export function readRunsFrom({ runsFrom }: KeySettings): string[] {
  return runsFrom
    .split(',')
    .map((source) => source.trim())
    .filter((source) => source !== '');
}

interface KeySettingsFieldsProps {
  readonly settings: KeySettings;
  readonly onChange: (settings: KeySettings) => void;
}

export function KeySettingsFields({ settings, onChange }: KeySettingsFieldsProps) {
  return (
    <>
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
        hint="“agents” makes each session of Claude Code, Codex, opencode and others one run. Others: traceparent, x-amzn-trace-id, metadata.KEY; with commas between, the first that a call has decides."
        value={settings.runsFrom}
        maxLength={1000}
        placeholder="agents"
        onChange={(runsFrom) => onChange({ ...settings, runsFrom })}
      />
    </>
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
