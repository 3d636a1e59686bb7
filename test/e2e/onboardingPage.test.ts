/** docs/onboarding.md, command by command, with the programs that it starts: a center, a stand-in cluster, two syncers. */
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { at as field } from '../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { httpClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { FILE_LIMIT_MS, PATIENCE, PATIENCE_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { at, clientOf, gone, is } from '../syncer/support/installation.ts'
import { MAPS, TARGETS } from '../syncer/support/kinds.ts'
import { freePort, Program, until } from '../syncer/support/processes.ts'
import { typedIn } from './support/typedIn.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/onboarding.md'), 'utf8')
const [, ...SECTIONS] = PAGE.split(/^## /m)
const TITLES = [
  'A center',
  'A cluster',
  'Into the inventory',
  'Its syncer',
  'An object in it',
  'A team that places there',
  'New credentials',
  'A newer release',
  'Out of use for a while',
  'Out of the fleet',
] as const

function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

t.setTimeout(FILE_LIMIT_MS)
const skip = hasKubectl() ? false : 'no kubectl in the PATH'
t.test(
  'the page leads from nothing to an object in a cluster, and out again',
  { skip, timeout: FILE_LIMIT_MS },
  async t => {
    const dir = temporaryDir(t)
    const [centerPort, wecPort, healthPort] = await Promise.all([freePort(), freePort(), freePort()])
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      PATH: `${join(ROOT, 'bin')}:${process.env.PATH}`,
      ORRERY_HEALTH_ADDRESS: `127.0.0.1:${healthPort}`,
    }
    const running: Program[] = []
    const run = (command: string): Promise<string> =>
      new Promise((resolve, reject) => {
        execFile('bash', ['-ec', command], { cwd: dir, env, timeout: PATIENCE_MS }, (error, out, err) => {
          if (error) reject(new Error(`${command}\n${out}\n${err}`, { cause: error }))
          else resolve(out + err)
        })
      })
    /** Its output; none for a program that goes on. */
    const type = async (command: string): Promise<string> => {
      const here = command
        .replaceAll('6443', String(centerPort))
        .replaceAll('6444', String(wecPort))
        .replaceAll(/--timeout=\w+/g, `--timeout=${PATIENCE}`)
      const [, name, value] = /^export (\w+)=(.*)$/.exec(here) ?? []
      if (name !== undefined) env[name] = value!.replace('$PWD', dir)
      else if (/^orrery (start|simulate-wec|syncer --)/.test(here)) {
        // one syncer of a machine tells how it is at the address that there is for it
        const health = running.length > 2 ? 'none' : env.ORRERY_HEALTH_ADDRESS
        const set = [`PATH=${env.PATH}`, `ORRERY_HEALTH_ADDRESS=${health}`]
        const program = Program.spawned(t, 'env', ['-C', dir, ...set, 'bash', '-c', `exec ${here}`])
        running.push(program)
        if (!here.startsWith('orrery syncer')) await program.said('ready')
        else if (running.length === 3) await program.said('the mailbox is known')
      } else return await run(here)
      return ''
    }
    t.same(
      SECTIONS.map(section => section.slice(0, section.indexOf('\n'))),
      TITLES,
    )
    const typeAll = async (title: (typeof TITLES)[number]): Promise<string[]> => {
      const commands = typedIn(SECTIONS[TITLES.indexOf(title)]!)
      t.ok(commands.length > 0, title)
      const said: string[] = []
      for (const command of commands) said.push(await type(command))
      return said
    }

    await typeAll('A center')
    await typeAll('A cluster')
    const cluster = await clientOf(t, join(dir, 'florin.kubeconfig'))
    await typeAll('Into the inventory')
    const there = await typeAll('Its syncer')
    t.match(there.at(-2), /^NAME .*SUPPORTED.*\nflorin /)
    t.match(there.at(-1), /^State: +serving\nCenter: +answers\nProtocol: +2\nCluster: +answers\n/)

    const object = await typeAll('An object in it')
    t.match(object.at(-2), /florin/)
    t.equal(object.at(-1), 'hello')

    const team = await typeAll('A team that places there')
    t.match(team[0], /placementgrant\.edge\.kubestellar\.io\/shops created\n/)
    t.match(team[2], 'namespace/shop created')
    t.match(team.at(-1), 'workspace.tenancy.kcp.io "shops" deleted')

    const [, list = ''] = await typeAll('New credentials')
    t.match(list, /florin +True /)
    const [, , first] = running

    const newer = typedIn(SECTIONS[TITLES.indexOf('A newer release')]!)
    t.match(newer[0], /^orrery syncer --/)
    await type(newer[0]!)
    const second = running.at(-1)!
    await second.said('another syncer serves the cluster; standing by until it ends')
    t.equal(await first!.end('SIGTERM'), 0)
    await second.said('the mailbox is known')
    const { options, base } = await loadKubeconfig(join(dir, 'center/admin.kubeconfig'), 'base')
    const center = httpClient({ ...options, server: base })
    t.teardown(() => center.close())
    // it is reported now and then
    const isTold = (target: KubeObject | undefined): boolean => field(target?.status, 'versions') !== undefined
    await until(center.in('root:imw1'), TARGETS, { name: 'florin' }, isTold)
    const release: string[] = []
    for (const command of newer.slice(1)) release.push(await type(command))
    t.match(release[1], /florin +\d+\.\d+\.\d+ +v1\./)

    await typeAll('Out of use for a while')
    await until(cluster, MAPS, at('greeting'), is('data', { text: 'hello' }))

    const [, left = ''] = await typeAll('Out of the fleet')
    t.match(left, 'No resources found')
    t.ok(await cluster.get(MAPS, at('greeting')), 'what was placed stays')
    await until(cluster, MAPS, { namespace: 'kube-system', name: 'orrery-syncer' }, gone)
    t.equal(await second.end('SIGTERM'), 0)
  },
)
