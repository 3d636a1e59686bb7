/** Notifications of a service to systemd. */
import t from 'tap'
import { systemdNotify } from '../../../../src/cli/orrery/process/systemdNotify.ts'

t.test('only systemd is told, by its own program', async t => {
  const ran: (readonly string[])[] = []
  const run = async (file: string, args: readonly string[]): Promise<void> => void ran.push([file, ...args])
  const log = { warn: (_: object, text: string) => t.fail(text) }
  await systemdNotify('ready', 'x', { environment: {}, run, log })
  t.same(ran, [])
  const environment = { NOTIFY_SOCKET: '/run/systemd/notify' }
  await systemdNotify('ready', 'serving', { environment, run, log })
  await systemdNotify('stopping', 'ending', { environment, run, log })
  t.same(ran, [
    ['systemd-notify', '--ready', '--status=serving'],
    ['systemd-notify', 'STOPPING=1', '--status=ending'],
  ])
})

t.test('that it cannot be told stops nothing', async t => {
  const lines: string[] = []
  const log = { warn: (_: object, text: string) => void lines.push(text) }
  const run = async (): Promise<never> => {
    throw new Error('spawn systemd-notify ENOENT')
  }
  await systemdNotify('ready', 'x', { environment: { NOTIFY_SOCKET: 'x' }, run, log })
  t.match(lines, [/^systemd-notify could not tell systemd that the service is ready: install it/])
})
