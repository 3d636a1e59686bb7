/**
 * The commands that answer users of a workload space. What they use is loaded when one of them runs: the plugin starts for each
 * of its commands.
 */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { durationMs } from '../shell/durations.ts'
import { outputOption } from '../shell/output.ts'
import type { Terminal } from '../shell/terminal.ts'
import { inNamespace, inSpace } from './answers/answerSession.ts'
import { TROUBLE } from './answers/exitCodes.ts'
import type { DiffOptions } from './answers/preview/diffCommand.ts'
import type { PreviewOptions } from './answers/preview/previewCommand.ts'
import type { StatusOptions } from './answers/status/statusCommand.ts'
import type { WaitOptions } from './answers/waitCommand.ts'
import type { WhyOptions } from './answers/why/whyCommand.ts'

/**
 * Adds them to a program. What is answered has the exit code of the command where nothing fails.
 * @param common adds the flags of every command
 */
export function answerCommands(
  program: Command,
  common: (command: Command) => Command,
  terminal: Terminal,
): { readonly exitCode: number } {
  const answered = { exitCode: 0 }
  inSpace(inNamespace(common(program.command('why <object...>'))))
    .description('explain where an object of a workload space goes, where not and why, and what became of it')
    .option('--cluster <location>', 'only about this location')
    .option('-w, --watch', 'answer again when the answer changes')
    .addOption(outputOption())
    .addHelpText('after', WHY_NOTES)
    .action(async (args: string[], options: WhyOptions) => {
      const { whyCommand } = await import('./answers/why/whyCommand.ts')
      await whyCommand(args, options, terminal)
    })
  inSpace(common(program.command('status')))
    .description('show the placements of a workload space and the clusters that it may use, troubles first')
    .option('-w, --watch', 'answer again when the answer changes')
    .addOption(outputOption())
    .addHelpText('after', STATUS_NOTES)
    .action(async (options: StatusOptions) => {
      const { statusCommand } = await import('./answers/status/statusCommand.ts')
      await statusCommand(options, terminal)
    })
  mistakesAreTrouble(inSpace(inNamespace(common(program.command('preview')))))
    .description('show what kubectl apply of files would change in which clusters; nothing is changed')
    .option('-f, --filename <file>', 'file, folder or "-" for standard input; repeatable', several)
    .option('-R, --recursive', 'folders with all that is below them')
    .addOption(outputOption())
    .addHelpText('after', PREVIEW_NOTES)
    .action(async (options: PreviewOptions) => {
      const { previewCommand } = await import('./answers/preview/previewCommand.ts')
      answered.exitCode = await previewCommand(options, terminal)
    })
  mistakesAreTrouble(inSpace(inNamespace(common(program.command('diff <object...>')))))
    .description('compare what clusters should have of an object with what they have now')
    .option('--cluster <location>', 'only about this location')
    .option('--no-live', 'do not read the clusters: what their syncers last reported stands')
    .addOption(outputOption())
    .addHelpText('after', DIFF_NOTES)
    .action(async (args: string[], options: DiffOptions) => {
      const { diffCommand } = await import('./answers/preview/diffCommand.ts')
      answered.exitCode = await diffCommand(args, options, terminal)
    })
  mistakesAreTrouble(inSpace(inNamespace(common(program.command('wait')))))
    .description('wait until the objects of files are in all clusters where they are placed; nothing is applied')
    .option('-f, --filename <file>', 'file, folder or "-" for standard input; repeatable', several)
    .option('-R, --recursive', 'folders with all that is below them')
    .addOption(new Option('--for <goal>', 'how far').choices(['applied', 'healthy']).default('healthy'))
    .option('--timeout <duration>', 'how long, such as 90s or 5m; 0: look once', seconds, 300)
    .addHelpText('after', WAIT_NOTES)
    .action(async (options: WaitOptions) => {
      const { waitCommand } = await import('./answers/waitCommand.ts')
      answered.exitCode = await waitCommand(options, terminal)
    })
  return answered
}

/** Who mistypes a flag is not told that something differs. */
function mistakesAreTrouble(command: Command): Command {
  return command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : TROUBLE))
}

const several = (value: string, before: string[] = []): string[] => [...before, value]

function seconds(text: string): number {
  const ms = durationMs(text)
  if (ms === undefined || ms > MAX_WAIT_MS)
    throw new InvalidArgumentError('It is no duration such as 90s or 5m, of at most 24h.')
  return ms / 1000
}

const MAX_WAIT_MS = 86_400_000

const WHY_NOTES = `
Name the object as KIND/NAME or KIND NAME; kinds are named as for kubectl get: deployment, deploy, deployments.apps.
Exit codes: 0 it was answered, 1 there is no such object, or it cannot be told.`

const STATUS_NOTES = `
-o name prints what is in trouble. Exit codes: 0 it was answered, whatever the answer, 1 it cannot be told.`

const PREVIEW_NOTES = `
Values of Secrets are shown as hashes. Exit codes, as of kubectl diff: 0 nothing would change in any cluster, 1 something would,
2 it could not be found out, or something would be invalid in a cluster.`

const DIFF_NOTES = `
Clusters are read by their syncers: of what is there now, the fields that the center sets. Where that cannot be, it is said, and what
was last reported stands; so it is with --no-live. Values of Secrets are shown as hashes. Exit codes: 0 all is as it should be, 1 something is not or is not known, 2 it could not be found out.`

const WAIT_NOTES = `
Objects count at the resourceVersion that they have when the command begins. An EdgePlacement in the files counts as all that it selects; Namespaces
that nothing selects, and what stays in the space, are not waited for. Exit codes: 0 all of it is there, 1 the time is over, or an object is placed
nowhere, 2 it could not be found out.`
