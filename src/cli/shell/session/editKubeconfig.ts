/**
 * One change of the kubeconfig files, safe against concurrent writers. They are read and written under the lock file that kubectl uses too
 * (`<file>.lock`), and replaced in one step.
 */
import { open, realpath, rm, stat } from 'node:fs/promises'
import { pause, systemClock } from '../../../client/clock.ts'
import { replaceFile } from '../../../program/replacedFiles.ts'
import { CommandError } from '../commandError.ts'
import { KubeconfigFiles } from './kubeconfigFiles.ts'

const LOCK_WAIT_MS = 5_000
const LOCK_RETRY_MS = 25

/** Reads, changes and writes. An error of `change` leaves the files as they were. */
export async function editKubeconfig<R>(paths: readonly string[], change: (files: KubeconfigFiles) => R): Promise<R> {
  const existing = (await KubeconfigFiles.read(paths)).paths
  // everybody locks in the same order
  const targets = [...new Set(await Promise.all(existing.map(path => realpath(path))))].sort()
  const locked: string[] = []
  try {
    for (const target of targets) {
      const lock = `${target}.lock`
      await acquire(lock)
      locked.push(lock)
    }
    const files = await KubeconfigFiles.read(paths)
    const result = change(files)
    for (const { path, text } of files.changes()) {
      const target = await realpath(path)
      await replaceFile(target, text, (await stat(target)).mode & 0o777)
    }
    return result
  } finally {
    for (const lock of locked) await rm(lock, { force: true })
  }
}

async function acquire(lock: string): Promise<void> {
  const deadline = systemClock.now() + LOCK_WAIT_MS
  for (;;) {
    try {
      const file = await open(lock, 'wx', 0o600)
      await file.close()
      return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      if (systemClock.now() > deadline) {
        const hint = 'remove the file if no other kubectl is at work'
        throw new CommandError(`the kubeconfig is locked by ${lock}: ${hint}`, 1, { cause: error })
      }
    }
    await pause(systemClock, LOCK_RETRY_MS, new AbortController().signal)
  }
}
