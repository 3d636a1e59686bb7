/**
 * Tells systemd how a service is, where it wants to know (`Type=notify`). Node has no sockets of that kind, so systemd's own little program
 * speaks; its unit needs `NotifyAccess=all` for that. A failure costs a line of the log.
 * @see https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { LogFields } from '../../../apimachinery/logFields.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'

const NOTIFY_MS = 10_000

type RunProgram = (file: string, args: readonly string[]) => Promise<unknown>

interface SystemdNotifyOptions {
  environment?: Readonly<Record<string, string | undefined>>
  run?: RunProgram
  log: { warn(fields: LogFields, text: string): void }
}

/** `READY=1`: what waits for the service goes on; `STOPPING=1`: it ends in order. With words for `systemctl status`. */
export async function systemdNotify(
  state: 'ready' | 'stopping',
  status: string,
  { environment = process.env, run = runProgram, log }: SystemdNotifyOptions,
): Promise<void> {
  if (!environment.NOTIFY_SOCKET) return
  const argument = state === 'ready' ? '--ready' : 'STOPPING=1'
  try {
    await run('systemd-notify', [argument, `--status=${status}`])
  } catch (error) {
    const remedy = 'install it, or leave Type=notify out of the unit'
    log.warn({ err: messageOf(error) }, `systemd-notify could not tell systemd that the service is ${state}: ${remedy}`)
  }
}

const runProgram: RunProgram = (file, args) => promisify(execFile)(file, [...args], { timeout: NOTIFY_MS })
