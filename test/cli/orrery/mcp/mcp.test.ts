/** `orrery mcp` serves an assistant: a real process beside a real server. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { MAX_ANSWER } from '../../../../src/cli/orrery/mcp/tools.ts'
import { startHarness } from '../../support.ts'

const ORRERY = join(import.meta.dirname, '../../../../bin/orrery')

interface Answer {
  id: number
  result?: { content?: { text: string }[]; isError?: boolean; [key: string]: unknown }
  error?: { code: number; message: string }
}

/** One process; requests get their answers in whatever order. */
class Assistant {
  readonly #child
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #id = 0

  constructor(t: Test, kubeconfig: string, flags: readonly string[] = []) {
    const env = { ...process.env, KUBECONFIG: kubeconfig }
    this.#child = spawn(ORRERY, ['mcp', ...flags], { env, stdio: ['pipe', 'pipe', 'inherit'] })
    createInterface({ input: this.#child.stdout }).on('line', line => {
      const answer: Answer = JSON.parse(line)
      this.#waiting.get(answer.id)?.(answer)
    })
    t.teardown(() => this.#child.kill())
  }

  async ask(method: string, params?: object): Promise<Answer> {
    const id = ++this.#id
    const answered = new Promise<Answer>(resolve => this.#waiting.set(id, resolve))
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) })}\n`)
    return await answered
  }

  async call(name: string, args: object = {}): Promise<{ text: string; isError: boolean }> {
    const { result } = await this.ask('tools/call', { name, arguments: args })
    return { text: result!.content![0]!.text, isError: result!.isError ?? false }
  }

  /** The exit code. */
  async leave(): Promise<unknown> {
    this.#child.stdin.end()
    return (await once(this.#child, 'exit'))[0]
  }
}

t.test('an assistant reads a workload space', async t => {
  const tokens = join(t.testdir(), 'tokens')
  writeFileSync(tokens, 'token-of-mia,mia,u-1\n')
  const { run, kubeconfig, url, dir } = await startHarness(t, ['--token-auth-file', tokens])
  const admin = kubeconfig('admin')
  const assistant = new Assistant(t, admin, ['--space', 'root:wmw1'])

  const hello = await assistant.ask('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: {} })
  t.match(hello.result, {
    protocolVersion: '2025-03-26',
    capabilities: { tools: {} },
    serverInfo: { name: 'orrery', version: String },
    instructions: /no instructions/,
  })
  t.match((await assistant.ask('initialize', { protocolVersion: '1999-01-01' })).result, {
    protocolVersion: '2025-06-18',
  })
  t.same((await assistant.ask('ping')).result, {})
  t.match(await assistant.ask('resources/list'), { error: { code: -32601, message: /no method "resources\/list"/ } })
  const { tools } = (await assistant.ask('tools/list')).result as { tools: { name: string; annotations: object }[] }
  t.same(
    tools.map(({ name }) => name),
    ['status', 'why', 'preview', 'diff', 'get'],
  )
  t.ok(tools.every(one => JSON.stringify(one.annotations).includes('"readOnlyHint":true')))

  await t.test('tools answer as the commands do', async t => {
    const command = await run('kubectl-kubestellar', ['status', '--space', 'root:wmw1'], admin)
    t.equal((await assistant.call('status')).text, `${command.err}${command.out}`.trimEnd())
    const json = await assistant.call('status', { format: 'json', space: 'root:wmw1' })
    t.match(JSON.parse(json.text.slice(json.text.indexOf('{'))), { kind: 'FleetStatus' })
    const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: prices, namespace: default }\ndata: { a: b }\n'
    const preview = await assistant.call('preview', { manifest })
    t.match(preview, { isError: false, text: /configmaps "default\/prices": no EdgePlacement selects it/ })
    t.match(await assistant.call('get', { kind: 'cm', name: 'prices' }), { isError: true, text: /not found/ })
    t.match(await assistant.call('why', { object: 'cm/kube-root-ca.crt' }), { isError: false, text: /configmaps/ })
    t.match(await assistant.call('diff', { object: 'cm/kube-root-ca.crt' }), { isError: false, text: /compared:/ })
  })

  await t.test('mistakes are answers that name the remedy', async t => {
    t.match(await assistant.ask('tools/call', { name: 'delete' }), {
      error: { code: -32602, message: /no tool "delete"/ },
    })
    t.match(await assistant.ask('tools/call', {}), { error: { code: -32602, message: /params.name/ } })
    const wrong: [string, object, RegExp][] = [
      ['why', {}, /object/],
      ['why', { object: 7 }, /object/],
      ['why', { object: 'cm/a', clustr: 'x' }, /clustr/],
      ['why', { object: 'deploymnt/web' }, /no kind called "deploymnt"; did you mean/],
      ['status', { space: 'root:nosuch' }, /root:nosuch/],
      ['preview', { manifest: 'kind: [' }, /yaml/i],
      ['get', { kind: 'cm', limit: 101 }, /limit/],
      ['get', { kind: 'cm', name: '../../secrets/x' }, /Error: /],
    ]
    for (const [name, args, text] of wrong) t.match(await assistant.call(name, args), { isError: true, text }, name)
  })

  await t.test('values of Secrets are never told', async t => {
    const manifest = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'password', namespace: 'default' },
      stringData: { password: 'open-sesame' },
    })
    const file = join(dir, 'secret.json')
    writeFileSync(file, manifest)
    await applyAs(t, file, admin, `${url}/clusters/root:wmw1`)
    const told = [
      await assistant.call('get', { kind: 'secret', name: 'password' }),
      await assistant.call('get', { kind: 'Secret', allNamespaces: true }),
      await assistant.call('why', { object: 'secret/password', format: 'json' }),
      await assistant.call('diff', { object: 'secret/password', format: 'json' }),
      await assistant.call('preview', { manifest: manifest.replace('sesame', 'wide'), format: 'json' }),
    ]
    for (const { text } of told) t.notMatch(text, /sesame|open-wide|b3Blbi/)
    t.match(told[0], { isError: false, text: /data:\n {2}password: \(hidden\)/ })
    t.match(told[1], { text: /password: \(hidden\)/ })
  })

  await t.test('an answer has a bound, and says so', async t => {
    const long = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'long' }, data: { text: 'x'.repeat(70_000) } }
    const file = join(dir, 'long.json')
    writeFileSync(file, JSON.stringify(long))
    await applyAs(t, file, admin, `${url}/clusters/root:wmw1`)
    const { text } = await assistant.call('get', { kind: 'configmap', name: 'long' })
    t.ok(text.length < MAX_ANSWER + 200)
    t.match(text, /… \d+ more characters are left out/)
    t.match((await assistant.call('get', { kind: 'clusterroles', limit: 1 })).text, /there are more than these 1/)
  })

  await t.test('rights are those of the kubeconfig', async t => {
    const path = join(dir, 'mia')
    writeFileSync(path, JSON.stringify(kubeconfigOf(`${url}/clusters/root:wmw1`)))
    const mia = new Assistant(t, path)
    t.match(await mia.call('get', { kind: 'cm' }), { isError: true, text: /not permitted|cannot/ })
    t.match(await mia.call('status'), { isError: true, text: /not permitted|cannot/ })
    t.equal(await mia.leave(), 0)
  })
  t.equal(await assistant.leave(), 0)
})

async function applyAs(t: Test, file: string, kubeconfig: string, server: string): Promise<void> {
  const kubectl = spawn('kubectl', ['apply', '-f', file, '--server', server], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: 'ignore',
  })
  t.equal((await once(kubectl, 'exit'))[0], 0)
}

function kubeconfigOf(server: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'a', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'a', user: { token: 'token-of-mia' } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  }
}
