/** Chooses by what the calls of runs are put into groups. */
import { useQuery } from '@tanstack/react-query';
import { metadataKeysQuery } from '../../api/metadata-keys.ts';

const FIXED = [
  { value: '', label: 'Not grouped' },
  { value: 'model', label: 'By model' },
  { value: 'provider', label: 'By provider' },
  { value: 'key', label: 'By key' },
] as const;

interface GroupMenuProps {
  readonly group: string | undefined;
  readonly onGroup: (group: string | undefined) => void;
}

export function GroupMenu({ group, onGroup }: GroupMenuProps) {
  const { data } = useQuery(metadataKeysQuery());
  const keys = (data?.data ?? []).map(({ key }) => `metadata.${key}`);
  const isListed = group === undefined || keys.includes(group) || FIXED.some(({ value }) => value === group);
  return (
    <select
      aria-label="Group"
      value={group ?? ''}
      onChange={(event) => onGroup(event.target.value === '' ? undefined : event.target.value)}
      className="h-8 max-w-48 rounded-md border border-line-strong/60 bg-panel px-2"
    >
      {FIXED.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
      {(isListed ? keys : [group, ...keys]).map((key) => (
        <option key={key} value={key}>
          By {key.replace(/^metadata\./, '')}
        </option>
      ))}
    </select>
  );
}
