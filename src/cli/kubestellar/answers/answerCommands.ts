/** The commands that answer users of a workload space. Their files are loaded when one of them runs: the plugin starts for each. */
import { NAMES_OUTPUT, WIDE_OUTPUT } from '../../shell/output.ts'
import type { PluginCommand } from '../../shell/plugin.ts'
import { SPACE } from '../../shell/session/session.ts'
import { flag, repeated } from '../../shell/settings.ts'
import { timeoutSeconds } from '../arguments.ts'
import { COMMON } from '../sessions.ts'
import { NAMESPACE } from './answerSession.ts'
import { TROUBLE } from './exitCodes.ts'

const CLUSTER = flag('--cluster <location>', 'only about this location')
const EXIT_CODE = flag('--exit-code', 'end with 1 where something is in trouble or not known, for scripts')
const ALL_SPACES = flag(
  '-A, --all-spaces',
  'all spaces and inventories that you may read; with --space, from there down',
)
const WATCH = flag('-w, --watch', 'answer again when the answer changes')
/** Flags of kubectl apply. */
export const FILES = [
  flag('-f, --filename <file>', 'file, folder or "-" for standard input; repeatable', { parse: repeated }),
  flag('-R, --recursive', 'folders with all that is below them'),
]

const MADE = `Clusters report what an EdgePlacement names in spec.associated. Name the object as KIND/NAME or KIND NAME.
Exit codes: 0 it was answered, 1 no cluster reports the object, or there is no answer.`
const MADE_FLAGS = [...COMMON, NAMESPACE, SPACE, CLUSTER, NAMES_OUTPUT]

/** Commands about objects that clusters made. */
const ASSOCIATED: readonly PluginCommand[] = [
  {
    line: 'tree <object...>',
    summary: 'show what clusters made for an object of a workload space, below their owners, and how it is',
    notes: MADE,
    flags: MADE_FLAGS,
    load: async () => (await import('./associated/associatedCommands.ts')).treeCommand,
  },
  {
    line: 'pods <object...>',
    summary: 'list the Pods that clusters made for an object of a workload space',
    notes: MADE,
    flags: MADE_FLAGS,
    load: async () => (await import('./associated/associatedCommands.ts')).podsCommand,
  },
  {
    line: 'events <object...>',
    summary: 'list Events about an object of a workload space in its clusters, and about what these made for it',
    notes: MADE,
    flags: MADE_FLAGS,
    load: async () => (await import('./associated/associatedCommands.ts')).eventsCommand,
  },
]

/** For comparing commands a mistyped flag must not read as a difference. */
export const ANSWER_COMMANDS: readonly PluginCommand[] = [
  {
    line: 'why <object...>',
    summary: 'explain where an object of a workload space goes, where not and why, and what became of it',
    notes: `Name the object as KIND/NAME or KIND NAME; kinds are named as for kubectl get: deployment, deploy, deployments.apps.
Exit codes: 0 it was answered, 1 there is no such object, or no answer.`,
    flags: [
      ...COMMON,
      NAMESPACE,
      SPACE,
      CLUSTER,
      flag('--at <revision>', 'in a revision of its placements: N, or PLACEMENT.N of one'),
      WATCH,
      WIDE_OUTPUT,
    ],
    load: async () => (await import('./why/whyCommand.ts')).whyCommand,
  },
  ...ASSOCIATED,
  {
    line: 'status',
    summary: 'show the placements of a workload space and the clusters that it may use, troubles first',
    notes: `-o name prints what is in trouble. Exit codes: 0 it was answered, whatever the answer, 1 there is no answer. With --exit-code:
0 all is well, 1 something is in trouble or not known, 2 there is no answer.`,
    flags: [
      ...COMMON,
      flag('-n, --namespace <name>', '', { hidden: true }),
      SPACE,
      ALL_SPACES,
      EXIT_CODE,
      WATCH,
      WIDE_OUTPUT,
    ],
    load: async () => (await import('./status/statusCommand.ts')).statusCommand,
  },
  {
    line: 'preview',
    summary: 'show what kubectl apply of files would change in which clusters; nothing is changed',
    notes: `Values of Secrets are shown as hashes. Exit codes, as of kubectl diff: 0 no change, 1 a change,
2 unknown or invalid in a cluster, 3 more deletions than --max-deletes.`,
    mistaken: TROUBLE,
    flags: [
      ...COMMON,
      NAMESPACE,
      SPACE,
      ...FILES,
      flag('--max-deletes <n>', 'end with 3 where more copies than these would be deleted in clusters', {
        number: true,
      }),
      flag('-o, --output <format>', 'wide: all there is to tell; markdown: for a pull request; name: names alone', {
        choices: ['wide', 'markdown', 'json', 'yaml', 'name'],
      }),
    ],
    load: async () => (await import('./preview/previewCommand.ts')).previewCommand,
  },
  {
    line: 'diff <object...>',
    summary: 'compare what clusters should have of an object with what they have now',
    notes: `Syncers read the present fields that the center sets in their clusters. Where none answers, and with --no-live, the last report
stands, and the output says so. With --revision an EdgePlacement counts as all that it selects. Values of Secrets are shown as hashes. Exit codes: 0 all is as it should be, 1 something is not or is not known, 2 it could not be found out.`,
    mistaken: TROUBLE,
    flags: [
      ...COMMON,
      NAMESPACE,
      SPACE,
      CLUSTER,
      flag('--no-live', 'do not read the clusters: what their syncers last reported stands'),
      flag('--revision <n>', 'compare a revision of its placements, or PLACEMENT.N, with the object now'),
      WIDE_OUTPUT,
    ],
    load: async () => (await import('./preview/diffCommand.ts')).diffCommand,
  },
  {
    line: 'wait',
    summary: 'wait until the objects of files are in all clusters where they are placed; nothing is applied',
    notes: `Objects count at the resourceVersion that they have when the command begins. An EdgePlacement in the files counts as all that it selects; Namespaces
that nothing selects, and what stays in the space, are not waited for. Exit codes: 0 all of it is there, 1 the time is over, or an object is placed
nowhere, 2 unknown.`,
    mistaken: TROUBLE,
    flags: [
      ...COMMON,
      NAMESPACE,
      SPACE,
      ...FILES,
      flag('--for <goal>', 'how far', { choices: ['applied', 'healthy'], default: 'healthy' }),
      flag('--timeout <duration>', 'how long, such as 90s or 5m; 0: look once', {
        parse: timeoutSeconds,
        default: '5m',
      }),
    ],
    load: async () => (await import('./waitCommand.ts')).waitCommand,
  },
]
