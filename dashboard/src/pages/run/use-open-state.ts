/** What is open in the tree: a level, which stands in the address, and single steps against it, which do not. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { readOneOf } from '../../search/list-search.ts';
import { chooseOpenState, type OpenState, openToLevel, reveal } from './model/open-state.ts';
import { findIdentity, type RunTable } from './model/run-table.ts';
import { LEVELS, type RunSearch } from './run-search.ts';

function openByAddress(level: RunSearch['level'], table: RunTable): OpenState {
  if (level === undefined) return chooseOpenState(table);
  return openToLevel(level === 'all' ? 'all' : Number(level));
}

function formatLevel(level: number | 'all'): RunSearch['level'] {
  return readOneOf(String(level), LEVELS);
}

interface OpenControls {
  readonly state: OpenState;
  readonly setState: (state: OpenState) => void;
  readonly setLevel: (level: number | 'all') => void;
}

export function useOpenState(
  table: RunTable,
  level: RunSearch['level'],
  sel: string | undefined,
  change: (search: RunSearch) => void,
): OpenControls {
  const [state, setOwnState] = useState<OpenState>(() => {
    const row = sel === undefined ? null : findIdentity(table, sel);
    const state = openByAddress(level, table);
    return row === null ? state : reveal(table, row, state);
  });
  /** What this page wrote into the address last: another value there comes from Back or from a link. */
  const written = useRef(level);
  const setState = useCallback(
    (next: OpenState) => {
      setOwnState(next);
      if (next.level === state.level) return;
      written.current = formatLevel(next.level);
      change({ level: written.current });
    },
    [state.level, change],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new table is no reason to close anything
  useEffect(() => {
    if (level === written.current) return;
    written.current = level;
    setOwnState(openByAddress(level, table));
  }, [level]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what was selected just now is brought into view
  useEffect(() => {
    const row = sel === undefined ? null : findIdentity(table, sel);
    if (row !== null) setOwnState((before) => reveal(table, row, before));
  }, [sel]);
  const setLevel = useCallback((next: number | 'all') => setState(openToLevel(next)), [setState]);
  return { state, setState, setLevel };
}
