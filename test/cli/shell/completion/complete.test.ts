/** Completions for shells and kubectl. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { KUBESTELLAR } from '../../../../src/cli/kubestellar/program.ts'
import { main, orreryProgram } from '../../../../src/cli/orrery/main.ts'
import {
  complete,
  completionText,
  FILES,
  type NameQuery,
  NOTHING_ELSE,
} from '../../../../src/cli/shell/completion/complete.ts'
import { completionScript, SHELLS } from '../../../../src/cli/shell/completion/scripts.ts'
import { pluginProgram } from '../../../../src/cli/shell/plugin.ts'
import { WS } from '../../../../src/cli/ws/program.ts'

const BIN = join(import.meta.dirname, '../../../../bin')
const NOBODY = { out: () => {}, err: () => {} }
const PROGRAMS = {
  orrery: orreryProgram().program,
  ws: pluginProgram(WS, NOBODY).program,
  kubestellar: pluginProgram(KUBESTELLAR, NOBODY).program,
}

async function completed(program: keyof typeof PROGRAMS, line: string) {
  const queries: NameQuery[] = []
  const { candidates, directive } = await complete(PROGRAMS[program], line.split(' '), async what => {
    queries.push(what)
    return [{ value: 'root:imw1' }, { value: 'root:wmw1' }, { value: 'florin' }]
  })
  return { values: candidates.map(({ value }) => value), directive, queries }
}

t.test('commands, flags and choices stand in the description of the program', async t => {
  t.match(await completed('orrery', 'st'), { values: ['start', 'store'], directive: NOTHING_ELSE, queries: [] })
  t.match(await completed('orrery', 'store ver'), { values: ['verify'] })
  t.match(await completed('orrery', 'start --log-'), { values: ['--log-level', '--log-format'] })
  t.match(await completed('orrery', 'start --storage '), { values: ['level', 'etcd'] })
  t.match(await completed('orrery', 'start --storage=e'), { values: ['--storage=etcd'] })
  t.match(await completed('orrery', 'start --config '), { values: [], directive: FILES })
  t.match(await completed('orrery', 'completion '), { values: [...SHELLS] })
  t.match(await completed('kubestellar', 'status -o '), { values: ['wide', 'json', 'yaml', 'name'] })
  t.match(await completed('ws', 'use -'), { values: ['--kubeconfig', '--context', '--short', '--output', '--help'] })
})

t.test('names of spaces and clusters are asked for where they stand', async t => {
  const space = (word: string) => [{ what: 'space', word }]
  t.match(await completed('ws', 'root:i'), { values: ['root:imw1'], queries: space('root:i') })
  t.match((await completed('ws', '')).values, ['use', 'current', 'create', 'delete'], 'beside the commands')
  t.match(await completed('ws', 'delete --yes root:w'), { values: ['root:wmw1'], queries: space('root:w') })
  t.match(await completed('kubestellar', 'ungrant --imw root:'), { queries: space('root:') })
  t.match(await completed('kubestellar', 'ungrant --imw=root:i'), { values: ['--imw=root:imw1'] })
  t.match(await completed('kubestellar', 'syncer revoke --imw root:imw1 f'), {
    values: ['florin'],
    queries: [{ what: 'synctarget', word: 'f', given: { imw: 'root:imw1' } }],
  })
  t.match(await completed('kubestellar', 'why deployment/web --cluster '), { queries: [{ what: 'location' }] })
})

t.test('kubectl and the shells read it as they read that of others', async t => {
  const candidates = [{ value: 'a', description: 'the first' }, { value: 'b' }]
  t.equal(completionText({ candidates, directive: NOTHING_ELSE }), 'a\tthe first\nb\n:4')
  t.equal(completionText({ candidates: [], directive: FILES }), ':0')
  const env = { ...process.env, KUBECONFIG: '/nowhere' }
  const asked = execFileSync(join(BIN, 'kubectl_complete-ws'), ['cre'], { env, encoding: 'utf8' })
  t.equal(
    asked,
    'create\tmake a workspace in the current one\n' +
      'create-context\tmake a context for the current workspace, named after its path by default, and switch to it\n:4\n',
    'without a server, too',
  )
  t.equal(await main(['__complete', 'kubestellar', 'gran']), 0)
})

t.test('bash completes words with colons, of which it knows only the last part', async t => {
  const script = `orrery() { printf '%s\\n' root:imw1 root:imw2 :4; }
${completionScript('bash')}
COMP_LINE='orrery ws root:im' COMP_POINT=17
_orrery
echo "\${COMPREPLY[@]}"`
  t.equal(execFileSync('bash', ['-c', script], { encoding: 'utf8' }), 'imw1 imw2\n')
  for (const shell of SHELLS) t.match(completionScript(shell), 'orrery __complete', shell)
})
