/** The commands by which people follow and steer how edits come to clusters. Their files are loaded when one of them runs. */
import { CONFIRM } from '../../shell/confirm.ts'
import { WIDE_OUTPUT } from '../../shell/output.ts'
import type { PluginCommand } from '../../shell/plugin.ts'
import { SPACE } from '../../shell/session/session.ts'
import { flag } from '../../shell/settings.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { FILES } from '../answers/answerCommands.ts'
import { TROUBLE } from '../answers/exitCodes.ts'
import { timeoutSeconds } from '../arguments.ts'
import { COMMON } from '../sessions.ts'
import type { ChangeOptions } from './rolloutChanges.ts'

const FLAGS = [...COMMON, SPACE]
const REVISION = flag('--revision <n>', 'the number of the revision', { number: true })
const load = () => import('./rolloutChanges.ts')
type Changes = Awaited<ReturnType<typeof load>>

function change(name: keyof Changes): NonNullable<PluginCommand['change']> {
  return async (options: ChangeOptions, terminal: Terminal, placement: string) =>
    await (await load())[name](options, terminal, placement)
}

export const ROLLOUT: PluginCommand = {
  line: 'rollout',
  summary: 'how edits come to the clusters of an EdgePlacement with a rolloutStrategy',
  commands: [
    {
      line: 'status [placement]',
      summary: 'show the newest rollout of a placement cluster by cluster, or those of all placements',
      notes: `With --watch it ends when the rollout does. With -f it waits first until a revision has the objects of the files.

Exit code 0: all clusters that are there have it, and no more of them failed than maxFailures. Exit code 1: it failed, went back or was superseded.
Exit code 2: it could not be found out. Exit code 3: it is on its way, paused or waits, or the time is over.`,
      mistaken: TROUBLE,
      flags: [
        ...FLAGS,
        flag('--revision <n>', 'the rollout of this revision; default: the newest', { number: true }),
        flag('-w, --watch', 'print what changes until it ends'),
        flag('--timeout <duration>', 'how long to watch, such as 90s or 5m; default: without an end', {
          parse: timeoutSeconds,
        }),
        ...FILES,
        WIDE_OUTPUT,
      ],
      load: async () => (await import('./rolloutStatusCommand.ts')).rolloutStatusCommand,
    },
    {
      line: 'history <placement>',
      summary:
        'show the revisions of a placement, the newest first: by which field manager, what changed and what became of them',
      notes: 'Values of Secrets are shown as hashes, and objects that you may not get are counted.',
      flags: [...FLAGS, flag('--revision <n>', 'show what this revision changed', { number: true }), WIDE_OUTPUT],
      load: async () => (await import('./historyCommand.ts')).historyCommand,
    },
    { line: 'pause <placement>', summary: 'begin no further cluster', flags: FLAGS, change: change('pause') },
    { line: 'resume <placement>', summary: 'go on after a pause', flags: FLAGS, change: change('resume') },
    {
      line: 'approve <placement>',
      summary: 'let a group of clusters begin that waits for an approval',
      flags: [...FLAGS, flag('--group <name>', 'the group; default: the one that waits')],
      change: change('approve'),
    },
    {
      line: 'expedite <placement>',
      summary: 'give the newest revision to all clusters at once, past all stages and gates',
      flags: [...FLAGS, CONFIRM],
      change: change('expedite'),
    },
    {
      line: 'undo <placement>',
      summary: 'bring the clusters back to the last finished revision before this one, and hold them there',
      notes:
        'The objects of the space stay as they are. After unpin the clusters get the newest revision, so edit the objects before.',
      flags: [...FLAGS, CONFIRM, REVISION],
      change: change('undo'),
    },
    {
      line: 'pin <placement>',
      summary: 'hold the clusters at a revision, whatever is edited; default: the one of the newest rollout',
      flags: [...FLAGS, REVISION],
      change: change('pin'),
    },
    {
      line: 'unpin <placement>',
      summary: 'let edits come to the clusters again, the newest revision first',
      flags: FLAGS,
      change: change('unpin'),
    },
  ],
}
