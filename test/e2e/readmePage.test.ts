/** README.md: its commands work, its tour prints the texts of the page, and its recording is of this demo. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { run } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { freePort } from '../syncer/support/processes.ts'
import { assetsDir } from '../syncer/support/realCluster.ts'
import { noKubectl } from './support/example1.ts'
import { sectionOf, typedIn } from './support/typedIn.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'README.md'), 'utf8')
const RECORDED = readFileSync(join(ROOT, 'docs/pictures/demo.txt'), 'utf8')
const END = '@@ that was it'

/** Commands that only kubectl shows. */
const BY_KUBECTL = [
  /^center root \$ kubectl --context root get workspaces\n(.*\n)+?wmw-c +workload /m,
  /^edge-placement-c .* Stale /m,
  /^edge-placement-c .* AllApplied .* AllHealthy /m,
  /^edge-placement-c .* Refused /m,
  /^edge-placement-c .* AllApplied .* AllHealthy /m,
] as const
const [SPACES, STALE, HEALED, REFUSED, MENDED] = BY_KUBECTL
/** Only where there is a kube-apiserver. */
const BEHIND_HOST = /^florin and guilder have the page that alice of the host wrote$/m
/** In this order: where each command speaks, and what the demo shows. */
const PROMISED: readonly RegExp[] = [
  /^center root \$ kubectl ws root:imw1$/m,
  /^center root:imw1 \$ kubectl kubestellar ensure location florin /m,
  /^center root:wmw-c \$ kubectl apply -f \S*common\.yaml$/m,
  /^center root:wmw-s \$ kubectl apply -f \S*special\.yaml$/m,
  /^cluster florin \$ kubectl apply -f \S*reports\.yaml$/m,
  /^cluster guilder \$ kubectl apply -f \S*reports\.yaml$/m,
  SPACES,
  /^# An update: .*\ncenter root:wmw-c \$ kubectl apply -f \S*page-new\.yaml$/m,
  /^# An outage: .*\nthe syncer of guilder stops$/m,
  STALE,
  /^florin has the news of tonight all the same$/m,
  /^# It comes back, and catches up by itself$/m,
  HEALED,
  /^# A refusal: .*\ncluster florin \$ kubectl apply -f \S*no-drafts\.yaml$/m,
  /^center root:wmw-c \$ kubectl apply -f \S*page-draft\.yaml$/m,
  REFUSED,
  /^center root:wmw-c \$ kubectl kubestellar why configmap\/httpd-htdocs -n commonstuff$/m,
  /^imw1\.florin +Refused .*drafts are not shown in this cluster/m,
  /^imw1\.guilder +Applied /m,
  /^# Mended in the space, taken in the cluster$/m,
  MENDED,
  /^the ConfigMap is gone from florin and guilder$/m,
  BEHIND_HOST,
  /^demo: OK\n$/m,
]

t.setTimeout(FILE_LIMIT_MS)

t.test('its first command ends well', { timeout: FILE_LIMIT_MS }, async t => {
  const commands = typedIn(sectionOf(PAGE, '## Two commands'))
  t.strictSame(
    commands,
    ['npm ci && npm run demo', 'bin/orrery start'],
    'the tour starts the second one, with a folder',
  )
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  t.equal(scripts.demo, 'node demo/demo.ts')
  const { code, out } = await run(process.execPath, [join(ROOT, 'demo/demo.ts')])
  t.match({ code, out }, { code: 0, out: /^demo: OK$/m })
  let rest = out
  for (const promised of PROMISED) {
    if (noKubectl() !== false && (BY_KUBECTL as readonly RegExp[]).includes(promised)) continue
    if (promised === BEHIND_HOST && assetsDir() === undefined) continue
    const found = promised.exec(rest)
    t.ok(found, `behind what came before: ${promised}`)
    if (found) rest = rest.slice(found.index + found[0].length)
  }
  if (noKubectl() === false)
    for (const line of RECORDED.split('\n').filter(line => /^#|\$ /.test(line))) t.ok(out.includes(line), line)
})

t.test('the tour prints what it says', { skip: noKubectl(), timeout: FILE_LIMIT_MS }, async t => {
  const [, tour = ''] = /^## Five minutes with Orrery\n(.*?)^## /ms.exec(PAGE) ?? []
  const dir = join(temporaryDir(t), 'tour')
  const [serverPort, clusterPort] = await Promise.all([freePort(), freePort()])
  const here = (text: string): string =>
    text
      .replaceAll('/tmp/orrery-tour', dir)
      .replaceAll(':6443', `:${serverPort}`)
      .replaceAll(/([: ])6444\b/g, `$1${clusterPort}`)
  const shell = new Shell(t, { ORRERY_SECURE_PORT: String(serverPort), HOME: temporaryDir(t) })
  for (const [, sh = '', told] of here(tour).matchAll(/^```sh\n(.*?)^```\n(?:```\n(.*?)^```$)?/gms)) {
    const lines: string[] = []
    for (const command of typedIn(`\`\`\`sh\n${sh}\`\`\`\n`)) {
      const printed = await shell.type(command)
      // it may be gone before one can wait for it
      if (!command.includes('wait --for=delete')) lines.push(...printed)
      if (command.endsWith('&') && told !== undefined) lines.push(await shell.line())
    }
    const wanted = (told ?? '').split('\n')
    t.strictSame(lines.map(settled).filter(Boolean), wanted.map(settled).filter(Boolean), sh)
  }
})

/** Without what differs from time to time. */
function settled(line: string): string {
  return line
    .replaceAll(/\b\d+s\b/g, 'AGE')
    .replaceAll(/\b[0-9a-z]{16}\b/g, 'ID')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** One shell, in which somebody types. */
class Shell {
  readonly #stdin: NodeJS.WritableStream
  readonly #lines: AsyncIterator<string>

  constructor(t: Test, env: Record<string, string>) {
    const options = { cwd: ROOT, env: { ...process.env, ...env }, detached: true }
    const child = spawn('bash', ['-c', 'exec bash 2>&1'], options)
    const ended = once(child, 'exit')
    t.teardown(async () => {
      // with what it has in the background
      if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL')
      await ended
    })
    this.#stdin = child.stdin
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  }

  /** @returns what it prints */
  async type(command: string): Promise<string[]> {
    this.#stdin.write(`${command}\necho "${END}"\n`)
    const printed: string[] = []
    for (;;) {
      const line = await this.line()
      if (line.endsWith(END)) {
        const rest = line.slice(0, -END.length)
        return rest === '' ? printed : [...printed, rest]
      }
      printed.push(line)
    }
  }

  /** The next line that anybody prints. */
  async line(): Promise<string> {
    const { value, done } = await this.#lines.next()
    if (done) throw new Error('the shell has ended')
    return value
  }
}
