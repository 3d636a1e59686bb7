/** The commands for whoever administers clusters: who uses one, and how workload is taken off one that stays. */
import { NOT_LEFT } from '../../shell/commandError.ts'
import { CONFIRM } from '../../shell/confirm.ts'
import { WIDE_OUTPUT } from '../../shell/output.ts'
import type { PluginCommand } from '../../shell/plugin.ts'
import { flag } from '../../shell/settings.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { timeoutSeconds } from '../arguments.ts'
import { INVENTORY, type InventoryOptions } from '../sessions.ts'
import type { DrainOptions } from './drain.ts'

const load = () => import('./drain.ts')

export const CLUSTER_COMMANDS: readonly PluginCommand[] = [
  {
    line: 'users <location>',
    summary: 'show which spaces and placements use a cluster, with their copies there, and where else they lead',
    flags: [...INVENTORY, WIDE_OUTPUT],
    load: async () => (await import('./usersCommand.ts')).usersCommand,
  },
  {
    line: 'cordon <location>',
    summary: 'place nothing new on a cluster; what is there stays and is kept up to date',
    flags: INVENTORY,
    change: async (options: InventoryOptions, terminal: Terminal, name: string) =>
      (await load()).cordon(options, terminal, name),
  },
  {
    line: 'drain <location>',
    summary: 'show who uses a cluster, then take all that was placed there off it, and wait until it is empty',
    exits: { [NOT_LEFT]: 'the cluster is not empty in time' },
    flags: [
      ...INVENTORY,
      CONFIRM,
      flag('--timeout <duration>', 'how long to wait until the cluster is empty', {
        parse: timeoutSeconds,
        default: '5m',
      }),
    ],
    change: async (options: DrainOptions, terminal: Terminal, name: string) =>
      (await load()).drain(options, terminal, name),
  },
  {
    line: 'uncordon <location>',
    summary: 'undo cordon and drain: placements lead to the cluster again',
    flags: INVENTORY,
    change: async (options: InventoryOptions, terminal: Terminal, name: string) =>
      (await load()).uncordon(options, terminal, name),
  },
]
