/** Command lines that run to their end in the test's process, without the start of one of their own. */
import { kubectlKubestellar } from '../../src/cli/kubestellar/program.ts'
import { orreryProgram } from '../../src/cli/orrery/main.ts'
import { shownText } from '../../src/cli/shell/terminal.ts'
import { kubectlWs } from '../../src/cli/ws/program.ts'
import type { Ran } from './orrery.ts'

/** Output and exit code of `orrery`. Flags that are not known end the process: they need one of their own. */
export async function orreryHere(...args: readonly string[]): Promise<Ran> {
  return await recorded(async terminal => {
    const log = (lines: string): void => terminal.err(lines.trimEnd())
    const { program, result } = orreryProgram({ ...terminal, log, terminated: () => new Promise(() => {}) })
    await program.parseAsync([...args], { from: 'user' })
    return result.code
  })
}

const PLUGINS = { ws: kubectlWs, kubestellar: kubectlKubestellar }

/** The same of a plugin of kubectl. */
export async function pluginHere(plugin: keyof typeof PLUGINS, ...args: readonly string[]): Promise<Ran> {
  return await recorded(terminal => PLUGINS[plugin](args, terminal))
}

interface Lines {
  out(line: string): void
  err(line: string): void
}

async function recorded(run: (terminal: Lines) => Promise<number>): Promise<Ran> {
  const ran = { code: 0, out: '', err: '' }
  const add = (stream: 'out' | 'err') => (line: string) => {
    ran[stream] += `${shownText(line)}\n`
  }
  ran.code = await run({ out: add('out'), err: add('err') })
  return ran
}
