import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOwnPath } from '../../../core/paths/own.ts'

const SUM = '0123456789abcdef'.repeat(4)
const listed = (paths: string) => paths.trim().split(/\s+/)

const OWN = listed(`
  .nojekyll favicon.ico index.html api/index.html assets/0123456789ab/style.css
  crates/index.html crates/index-se.html crates/Demo/Demo-1.0.0+b.1.crate crates/demo/crate.json
  crates/demo/latest/index.html crates/demo/1.0.0-rc.1/index.html
  crates/demo/1.0.0/raw/src/any.name crates/demo/1.0.0/src/index.html
  crates/demo/1.0.0/images/${SUM}.png crates/demo/badge.svg crates/demo/feed.xml feeds/crates.xml
  index/config.json index/3/c/cra index.git/HEAD index.git/objects/01/23456789
  keywords/no_std/index.html lists/newest-2.html search/terms/8/255.json
  search/index.html search/layout.json search/crates/12.json categories/science/robotics/index.html
  users/alice/index.html sitemap.xml sitemap-se.xml sitemaps/pages.xml sitemaps/7.xml
`)
const FOREIGN = listed(`
  CNAME about.html plimsoll.db plimsoll.toml public/index.html public/index/config.json backup.tar
  de/mo/demo/${SUM}.crate crates/de/mo/demo/${SUM}.crate crates/demo/1.0.0/${SUM}.crate
  index/de/mo/demo/${SUM}.crate index.git/objects/de/mo/demo/${SUM}.crate
  crates/demo/demo-1.0.crate crates/demo/other-1.0.0.crate crates/demo/Cargo.toml
  crates/demo/src/lib.rs crates/demo/1.0.0 crates/plimsoll.db crates/notes.html
  assets/logo.png images/logo.png index/notes.txt index/3/x/cra index.git/de/mo/demo
  crates/demo/logo.svg crates/demo/notes.html crates/demo/pom.xml crates/demo/docs/index.html
  feeds/mine.xml sitemaps/mine.xml search/notes.html search/terms/notes.json
  keywords/notes.html users/alice/cv.html lists/todo.html lists/newest/index.html
  search/src/main.rs users/alice/thesis.doc .push/my_crate
`)

test('what a tree has is told from what others have put beside it', () => {
  for (const path of OWN) assert.equal(isOwnPath(path), true, path)
  for (const path of [...FOREIGN, '']) assert.equal(isOwnPath(path), false, path)
})
