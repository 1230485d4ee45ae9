-- In place of push.lua for services that refuse, in a script, to publish. Nobody is told anything from here, so nothing
-- is granted to those who wait; the client that released tells them afterwards, if it may.

local pushes = false

local function hears()
  return false
end

local function tell() end

local function rivals()
  return {}
end

local function announce() end

local function mayTell()
  return false
end
