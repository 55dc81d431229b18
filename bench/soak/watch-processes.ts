/** Peak memory and processor time of a gateway's processes by role, looked at twice a second. */
import { readCpuNs, readPeakRssKb } from '../proxy/process-figures.ts';
import { ROLES, type Role, type RoleProcess } from './gateway-processes.ts';

const INTERVAL_MS = 500;

export interface ProcessFigures {
  /** The most that the largest process of each role had. */
  readonly peakMb: Readonly<Record<Role, number>>;
  /** What all of them took together, in seconds of one core. */
  readonly cpuSeconds: number;
}

export function watchProcesses(list: () => readonly RoleProcess[]): { readonly stop: () => ProcessFigures } {
  const peakKb = new Map<Role, number>();
  const cpuNs = new Map<number, number>();

  function look(): void {
    for (const { role, pid } of list()) {
      peakKb.set(role, Math.max(peakKb.get(role) ?? 0, readPeakRssKb(pid)));
      // Threads that have ended no longer count, so it may fall.
      cpuNs.set(pid, Math.max(cpuNs.get(pid) ?? 0, readCpuNs([pid])));
    }
  }

  const timer = setInterval(look, INTERVAL_MS);
  return {
    stop() {
      look();
      clearInterval(timer);
      const total = [...cpuNs.values()].reduce((sum, ns) => sum + ns, 0);
      const mb = (role: Role) => Math.round((peakKb.get(role) ?? 0) / 1_024);
      const [supervisor, proxy, control, postgres, backend] = ROLES;
      return {
        peakMb: {
          [supervisor]: mb(supervisor),
          [proxy]: mb(proxy),
          [control]: mb(control),
          [postgres]: mb(postgres),
          [backend]: mb(backend),
        },
        cpuSeconds: Math.round(total / 1e9),
      };
    },
  };
}
