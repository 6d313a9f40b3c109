import type { MessageTable } from './kind.ts'

// biome-ignore format: a message is one line, which a search for its words shows with its code.
export const gitMessages = {
  misuse: {
    git_index_foreign: '`{path}` was not made by `plimsoll build --from` and may have history; move it away, or set `git.index` to "off"',
  },
  forbidden: {
    git_service_refused: 'the git index is read-only over HTTP; releases are added with `cargo publish`, and only `git-upload-pack` is served here',
  },
  unsupported: {
    git_request_type: 'a git request must have the content type `{expected}`',
  },
  timeout: {
    git_request_slow: 'the git request did not arrive in time; try again over a faster connection',
  },
  too_large: {
    git_request_too_large: 'the git request is larger than {max:size}; clone the index again instead of fetching into this repository',
  },
  busy: {
    git_busy: 'too many clients are reading the git index right now; try again in a few seconds',
  },
  failed: {
    git_server_failed: 'the git index cannot be read right now; try again, or use the sparse index',
  },
  invalid: {
    git_upload_pack_missing: 'Cargo cannot fetch the git index from this daemon: that needs the executable `git`, and `nodegit` alone only writes; install git on the machine of the registry, or use the sparse index',
    git_switched_off: '`git.index` is "off", but the repository is still in the public tree, where it falls behind; `plimsoll build` moves it out of there',
    git_engine_missing: 'the git index needs an engine: neither `nodegit` nor the executable `{command}` can be used; install git 2.34 or newer, or run `npm run setup:nodegit`; the next start of the daemon, or `plimsoll build`, then catches up',
    git_nodegit_missing: 'the git engine `nodegit` was asked for but does not load ({reason}); run `npm run setup:nodegit`, or choose the engine `git`',
    git_too_old: '`{command}` is version {version}; the git index needs git 2.34 or newer, the next start of the daemon, or `plimsoll build`, then catches up',
    git_index_occupied: '`{path}` is not a bare git repository and not empty; move it away or name another folder for the git index',
    git_index_format: 'the git repository `{path}` uses {format}; the git index needs SHA-1 objects, refs as files and a HEAD that names a branch',
    git_index_moved: 'the git index `{path}` was changed by another program during a commit; let one process write to it, and run the build again',
    git_failed: '`git {command}` failed: {detail}; run `plimsoll verify` if it happens again',
    git_elsewhere: '{path} has git read what is outside of that repository; clone it with `git clone --bare --no-local`, and import the clone',
    git_remote_invalid: '`{remote}` is not a git remote to push to; write a URL such as `https://host/index.git`, `ssh://host/index.git`, or a path',
    git_push_diverged: 'the git index was not pushed to `{remote}`: the remote has commits this registry does not have; let no one else push there, then push once by hand with `git push --force` to replace them',
    git_push_failed: 'the git index was not pushed to `{remote}` ({detail}); the push is tried again, check the address and its credentials',
    git_push_left: 'the git index was not pushed to `{remote}` within {seconds} seconds; the push is left to the daemon, or to the next command that changes the index; check the address',
    git_request_encoding: 'the request body could not be read; send it uncompressed or with `Content-Encoding: gzip`',
    git_request_bad: 'git did not understand the request; clone the index again',
  },
} as const satisfies MessageTable
