/** `orrery start` as administrators run it: it ends well, starts again where it was, and guards its data dir. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { buildInfo } from '../../src/cli/orrery/version/buildInfo.ts'
import { Api } from '../support/api.ts'
import { findKubectls, run, startOrrery, startOrreryHere } from '../support/orrery.ts'
import { accessOf, CONFIGMAPS, configMap, createSpace, temporaryDir } from '../support/server.ts'

const here = await startOrreryHere(t)
const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'

/** Threads that sync writes, look names up and compress. */
const poolOf = ({ pid }: { pid: number }): number =>
  readdirSync(`/proc/${pid}/task`)
    .map(id => readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8'))
    .filter(name => name.startsWith('libuv-worker')).length

t.test('SIGTERM ends it with 0, kill -9 loses nothing acknowledged', async t => {
  const dataDir = temporaryDir(t)
  const first = await startOrrery(t, dataDir, { env: { UV_THREADPOOL_SIZE: '' } })
  t.equal(poolOf(first), 8, 'writes find a thread beside names that are looked up and answers that are compressed')
  let api = new Api(accessOf(first.kubeconfig))
  const id = await createSpace(api, 'kept')
  const watch = await api.in(id).watch(`${CONFIGMAPS}?watch=1`)
  const made = await api.ok(api.in(id).post(CONFIGMAPS, configMap('kept', { a: '1' })))
  t.equal(await first.stop(), 0)
  t.ok(
    (await watch.rest()).some(event => event.object.metadata.name === 'kept'),
    'watches end after what they were owed',
  )
  api.close()

  const second = await startOrrery(t, dataDir, { env: { UV_THREADPOOL_SIZE: '5' } })
  t.equal(poolOf(second), 5, "the operator's own size counts")
  api = new Api(accessOf(second.kubeconfig))
  t.strictSame(await api.ok(api.in('root:kept').get(`${CONFIGMAPS}/kept`)), made)
  const written = await Promise.all(
    Array.from({ length: 50 }, (_, i) => api.ok(api.in(id).post(CONFIGMAPS, configMap(`burst-${i}`)))),
  )
  await second.kill()
  api.close()

  const third = await startOrrery(t, dataDir)
  api = new Api(accessOf(third.kubeconfig))
  const { items } = await api.ok(api.in(id).get(CONFIGMAPS))
  for (const object of written)
    t.ok(
      items.some(item => item.metadata.uid === object.metadata.uid),
      `${object.metadata.name} is still there`,
    )
  const resumed = await api.in(id).watch(`${CONFIGMAPS}?watch=1&resourceVersion=${made.metadata.resourceVersion}`)
  const again = await resumed.take(50)
  t.ok(
    again.every(event => event.type === 'ADDED'),
    'a watch from before both ends goes on',
  )
  resumed.close()
  api.close()
  await third.stop()
})

t.test('a second server on the same data dir is refused', async t => {
  const program = join(import.meta.dirname, '../../bin/orrery')
  const second = await run(program, ['start', '--data-dir', here.dataDir, '--secure-port', '0'])
  t.not(second.code, 0)
  t.match(second.err, /data dir|in use|locked|another/i)
  t.notMatch(second.out, 'orrery ready')
})

t.test('a server whose port is taken says so and ends', async t => {
  const program = join(import.meta.dirname, '../../bin/orrery')
  const { port } = new URL(accessOf(here.kubeconfig).url)
  const second = await run(program, ['start', '--data-dir', temporaryDir(t), '--secure-port', port])
  t.equal(second.code, 1)
  t.match(
    second.err,
    `address already in use 127.0.0.1:${port}: stop what listens there, or give another --secure-port`,
  )
})

t.test('a server says which program it is, to kubectl too', async t => {
  const { commit, date, treeState } = buildInfo()
  const told = { gitCommit: commit, gitTreeState: await treeState(), buildDate: date }
  const { kubeconfig } = here
  const api = new Api(accessOf(kubeconfig))
  t.match((await api.get('/version')).body, told)
  api.close()
  const [kubectl] = await findKubectls()
  if (kubectl === undefined) return
  const { out } = await run(kubectl.path, ['--kubeconfig', kubeconfig, 'version', '-o', 'json'])
  t.match(JSON.parse(out), { serverVersion: told }, `kubectl ${kubectl.version}`)
})

t.test('the command line tells its version, and which file it cannot read', async t => {
  const program = join(import.meta.dirname, '../../bin/orrery')
  t.match((await run(program, ['--version'])).out, /^orrery \d+\.\d+\.\d+( \(.+\))?\n$/)
  const unread = await run(program, ['start', '--config', '/nowhere/orrery.yaml'])
  t.equal(unread.code, 1)
  t.match(unread.err, /--config \/nowhere\/orrery\.yaml cannot be read: /)
})

t.test('where nothing can be written to its output or its log, a server goes on, and a command says so', async t => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const program = join(import.meta.dirname, '../../bin/orrery')
  for (const said of ['stdout', 'stderr'] as const) {
    const dataDir = temporaryDir(t)
    const args = ['start', '--data-dir', dataDir, '--secure-port', '0', '--log-level', 'trace', '--log-format', 'json']
    const stdio = said === 'stdout' ? (['ignore', 'pipe', full] as const) : (['ignore', full, 'pipe'] as const)
    const child = spawn(program, args, { stdio: [...stdio] })
    t.teardown(() => child.kill('SIGKILL'))
    const exited = once(child, 'exit')
    const lines = createInterface({ input: child[said]! })
    const word = /^orrery(: standard output cannot be written: ENOSPC| ready: )/
    for await (const line of lines) if (word.test(line)) break
    child[said]!.resume()
    const api = new Api(accessOf(join(dataDir, 'admin.kubeconfig')))
    await api.ok(api.post(CONFIGMAPS, configMap('served')))
    api.close()
    child.kill('SIGTERM')
    t.strictSame(await exited, [0, null], said)
  }
  const version = spawn(program, ['version'], { stdio: ['ignore', full, 'pipe'] })
  const [text, [code]] = await Promise.all([version.stderr!.setEncoding('utf8').toArray(), once(version, 'exit')])
  t.equal(code, 1)
  t.equal(text.join(''), 'Error: standard output cannot be written: ENOSPC: no space left on device, write\n')
})

t.test('spaces that are deleted leave nothing behind, with all controllers at work', async t => {
  const api = new Api(accessOf(here.kubeconfig))
  t.teardown(() => api.close())
  const names = Array.from({ length: 12 }, (_, i) => `short-lived-${i}`)
  const ids = await Promise.all(names.map(name => createSpace(api, name)))
  await Promise.all(ids.map(id => api.ok(api.in(id).post(CONFIGMAPS, configMap('x')))))
  const { resourceVersion } = (await api.ok(api.get(WORKSPACES))).metadata
  const watch = await api.watch(`${WORKSPACES}?watch=1&resourceVersion=${resourceVersion}`)
  await Promise.all(names.map(name => api.ok(api.delete(`${WORKSPACES}/${name}`))))
  for (let left = names.length; left > 0; ) if ((await watch.take(1))[0]!.type === 'DELETED') left--
  watch.close()
  // Whatever the controllers still meant to write was in the log before this write is.
  await api.ok(api.post(CONFIGMAPS, configMap('later')))
  const snapshot = await api.watch('/services/stream/clusters/*')
  const left = (await snapshot.until(event => event.type === 'BOOKMARK')).filter(event =>
    ids.includes(event.space as string),
  )
  snapshot.close()
  t.strictSame(
    left.map(event => `${event.resource} ${event.namespace}/${event.name}`),
    [],
  )
})
